/** The route of a destination's counts over time. */

import type { Freshness } from "@posthaste/core/freshness";
import { latencyAt } from "@posthaste/core/health/latency-counts";
import { freshAnswer, freshness } from "@posthaste/http-kit/freshness";
import { isoTime, tenths, timeRange } from "@posthaste/http-kit/moment";
import { invalidInput, Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { type HealthRow, MINUTE_MS, MINUTES_KEEP_MS, QUARTER_MS } from "@posthaste/read-model/health-table";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { z } from "zod";
import type { HealthHistory } from "./health-history.ts";
import type { KnownHealth } from "./known-health.ts";

const HOUR_MS = 60 * MINUTE_MS;
const STEPS_MS = { "1m": MINUTE_MS, "5m": 5 * MINUTE_MS, "15m": QUARTER_MS, "1h": HOUR_MS } as const;
type Step = keyof typeof STEPS_MS;
const STEPS = ["1m", "5m", "15m", "1h"] as const satisfies readonly Step[];
const MOST_POINTS = 1500;

const metric = z.enum(["outcomes", "latency", "waiting"], "expected outcomes, latency or waiting");
const query = z.strictObject({
  metric,
  ...timeRange,
  step: z
    .enum(STEPS, `expected one of ${STEPS.join(", ")}`)
    .optional()
    .describe("By the minute for what is of the last 24 hours, else by 15 minutes, unless this says more."),
});

const point = z.object({
  time: z.iso.datetime().describe("The step's begin."),
  delivered: z.int().optional().describe("outcomes: attempts."),
  retryable: z.int().optional(),
  permanent: z.int().optional(),
  deferred: z.int().optional().describe("outcomes: deliveries that went to a retry topic without a request."),
  p50Ms: z.number().nullable().optional().describe("latency: null where no request ended."),
  p99Ms: z.number().nullable().optional(),
  waiting: z.int().optional().describe("waiting: deliveries, the most in the step."),
  inFlight: z.int().optional().describe("waiting: requests, the most in the step."),
});
type Point = z.output<typeof point>;

export interface SeriesRoutesParts {
  readonly known: Pick<KnownHealth, "find">;
  readonly readModel: Pick<ReadModel, "health" | "healthWrittenToMs">;
  readonly history: Pick<HealthHistory, "unwritten">;
  readonly fresh: () => Freshness;
  readonly nowMs: () => number;
}

export function seriesRoutes({ known, readModel, history, fresh, nowMs }: SeriesRoutesParts): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/destinations/{id}/series",
      operation: "getSeries",
      summary: "A destination's outcomes, latencies or what waited for it, over time",
      query,
      answer: {
        status: 200,
        description: "Steps in which something was counted, oldest first; the last may not be over.",
        body: {
          name: "Series",
          schema: z.object({ metric, step: z.enum(STEPS), data: z.array(point), ...freshness }),
        },
      },
      refusals: ["not_found", "unavailable"],
      handle: async ({ params: { id: destinationId }, query: { metric: named, since, until, step: asked } }) => {
        if ((await known.find(destinationId)) === undefined) {
          throw new Problem("not_found", `there is no destination ${destinationId}`);
        }
        // A time without an end includes the counts of this very millisecond.
        const untilMs = until ?? nowMs() + 1;
        const sinceMs = since ?? (until ?? nowMs()) - HOUR_MS;
        const isOld = nowMs() - sinceMs > MINUTES_KEEP_MS;
        const step = asked ?? (isOld ? "15m" : "1m");
        const stepMs = STEPS_MS[step];
        assertRange({ sinceMs, untilMs, stepMs, isOld });
        const fromMs = Math.floor(sinceMs / stepMs) * stepMs;
        const of = stepMs >= QUARTER_MS ? "quarters" : "minutes";
        // This comes before the queries, whose answers have whatever is written meanwhile.
        const unwritten = history.unwritten(destinationId);
        const [writtenToMs, written] = await Promise.all([
          readModel.healthWrittenToMs(),
          readModel.health({ destinationId, sinceMs: fromMs, untilMs, of }),
        ]);
        const isAsked = ({ timeMs }: HealthRow) => timeMs >= fromMs && timeMs < untilMs;
        const added = unwritten.filter((row) => isAsked(row) && row.timeMs >= (writtenToMs ?? 0));
        const rows = [...written, ...added];
        return { metric: named, step, data: stepsOf(rows, stepMs).map(POINTS[named]), ...freshAnswer(fresh()) };
      },
    }),
  ];
}

interface AskedRange {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  readonly isOld: boolean;
}

function assertRange({ sinceMs, untilMs, stepMs, isOld }: AskedRange): void {
  if (isOld && stepMs < QUARTER_MS) {
    throw invalidInput([{ path: "step", message: "expected 15m or 1h for what is older than 24 hours" }]);
  }
  if ((untilMs - sinceMs) / stepMs > MOST_POINTS) {
    throw invalidInput([{ path: "step", message: `expected at most ${MOST_POINTS} steps: name a longer one` }]);
  }
}

/** Joins the rows of each step into one. */
function stepsOf(rows: readonly HealthRow[], stepMs: number): readonly HealthRow[] {
  const steps = new Map<number, HealthRow>();
  for (const row of rows) {
    const timeMs = Math.floor(row.timeMs / stepMs) * stepMs;
    const held = steps.get(timeMs);
    steps.set(timeMs, held === undefined ? { ...row, timeMs } : joined(held, row));
  }
  return [...steps.values()].sort((a, b) => a.timeMs - b.timeMs);
}

function joined(held: HealthRow, row: HealthRow): HealthRow {
  return {
    timeMs: held.timeMs,
    delivered: held.delivered + row.delivered,
    retryable: held.retryable + row.retryable,
    permanent: held.permanent + row.permanent,
    deferred: held.deferred + row.deferred,
    latencies: row.latencies.map((count, bucket) => count + (held.latencies[bucket] ?? 0)),
    waiting: Math.max(held.waiting, row.waiting),
    inFlight: Math.max(held.inFlight, row.inFlight),
  };
}

const POINTS: Readonly<Record<z.output<typeof metric>, (row: HealthRow) => Point>> = {
  outcomes: ({ timeMs, delivered, retryable, permanent, deferred }) => ({
    time: isoTime(timeMs),
    ...{ delivered, retryable, permanent, deferred },
  }),
  latency: ({ timeMs, latencies }) => ({
    time: isoTime(timeMs),
    p50Ms: tenthsOrNull(latencyAt(latencies, 0.5)),
    p99Ms: tenthsOrNull(latencyAt(latencies, 0.99)),
  }),
  waiting: ({ timeMs, waiting, inFlight }) => ({ time: isoTime(timeMs), waiting, inFlight }),
};

function tenthsOrNull(ms: number | null): number | null {
  return ms === null ? null : tenths(ms);
}
