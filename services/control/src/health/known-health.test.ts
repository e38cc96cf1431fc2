import { RecentCounts } from "@posthaste/core/health/recent-counts";
import { expect, it } from "vitest";
import { HealthBook } from "./health-book.ts";
import { KnownHealth } from "./known-health.ts";

const MINUTE_MS = 60_000;
/** Half of a minute is over. */
const NOW_MS = 30_000_000 * MINUTE_MS + 30_000;

it("an hour's attempts are told by five minutes, the oldest first, those that failed beside those delivered", () => {
  const recent = new RecentCounts(MINUTE_MS);
  const count = (minutesAgo: number, delivered: number, failed: number) =>
    recent.add(NOW_MS - minutesAgo * MINUTE_MS, {
      ...{ delivered, retryable: failed, permanent: 0, deferred: 0, latencies: [] },
    });
  count(60, 1000, 0);
  count(59, 7, 0);
  count(55, 1, 2);
  count(54, 5, 0);
  count(5, 3, 0);
  count(4, 20, 1);
  count(0, 10, 4);
  const book = new HealthBook({ nowMs: () => NOW_MS, onCounted: () => undefined });
  const known = new KnownHealth({
    book: Object.assign(book, { recent: (id: string) => (id === "dst_1" ? recent : undefined) }),
    destinations: new Map(),
    readModel: { nextDueMs: async () => null, waiting: async () => [] },
    deadLetters: async () => 0,
    nowMs: () => NOW_MS,
  });
  const { lastHour, attempts, successOfHour } = known.recent("dst_1");
  expect(lastHour).toEqual({
    delivered: [8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 3, 30],
    failed: [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5],
  });
  expect([attempts, successOfHour]).toEqual([35, 46 / 53]);
  expect(known.recent("dst_2").lastHour).toEqual({ delivered: Array(12).fill(0), failed: Array(12).fill(0) });
});
