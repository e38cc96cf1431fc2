import { DatabaseSync } from "node:sqlite";
import type { RouteRequest } from "@posthaste/http-kit/route";
import { HealthTable, MINUTE_MS } from "@posthaste/read-model/health-table";
import { testDestination } from "@posthaste/testbed/test-destination";
import { expect, it } from "vitest";
import { seriesRoutes } from "./series-routes.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00Z");
const minutesBefore = (minutes: number) => new Date(NOON_MS - minutes * MINUTE_MS).toISOString();

/** The steps that are told at noon, in minutes before it. One was counted in each minute from eleven to noon. */
async function stepsOf(query: Readonly<Record<string, string>>): Promise<readonly number[]> {
  const table = new HealthTable(new DatabaseSync(":memory:"), () => NOON_MS);
  const rows = Array.from({ length: 61 }, (_, minute) => ({
    ...{ destinationId: "dst_1", timeMs: NOON_MS - (60 - minute) * MINUTE_MS },
    ...{ delivered: 1, retryable: 0, permanent: 0, deferred: 0, latencies: [1], waiting: 0, inFlight: 0 },
  }));
  // The last two minutes are not written yet.
  for (const row of rows.slice(0, -2)) table.add({ minuteMs: row.timeMs, rows: [row] });
  const judged = {
    state: "healthy",
    sinceMs: null,
    reason: null,
    nextProbeMs: null,
    deliversAgainSinceMs: null,
  } as const;
  const [route] = seriesRoutes({
    known: { find: async () => ({ destination: testDestination("dst_1"), judged, held: [], past: null }) },
    readModel: {
      healthWrittenToMs: async () => table.writtenToMs,
      health: async (asked) => table.rows(asked),
    },
    history: { unwritten: () => rows.slice(-2) },
    fresh: () => ({ asOfMs: null, complete: true }),
    nowMs: () => NOON_MS,
  });
  const asked = { params: { id: "dst_1" }, query: { metric: "outcomes", ...query } } as unknown as RouteRequest;
  const answer = (await route?.run(asked)) as { readonly data: readonly { readonly time: string }[] };
  return answer.data.map(({ time }) => (NOON_MS - Date.parse(time)) / MINUTE_MS);
}

it.each([
  ["that are written", { since: minutesBefore(12), until: minutesBefore(10) }, [12, 11]],
  ["that are not written yet", { since: minutesBefore(3), until: minutesBefore(0) }, [3, 2, 1]],
  ["that had begun by then", { since: minutesBefore(12), until: minutesBefore(9.5) }, [12, 11, 10]],
  ["of a quarter", { since: minutesBefore(60), until: minutesBefore(30), step: "15m" }, [60, 45]],
  ["up to now, where no end is asked for", { since: minutesBefore(2) }, [2, 1, 0]],
])("a series has the steps before its end, of those %s", async (_, query, steps) => {
  expect(await stepsOf(query)).toEqual(steps);
});
