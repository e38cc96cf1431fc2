import fc from "fast-check";
import { expect, it } from "vitest";
import type { DestinationHealth, FailedRequests } from "./health-record.ts";
import { failuresSince, RecentFailures } from "./recent-failures.ts";

const MINUTE_MS = 60_000;
const NOW_MS = 1_800_000_000_000;

const health = (failures: readonly FailedRequests[], countedSinceMs = NOW_MS) =>
  ({ failures, countedSinceMs }) as unknown as DestinationHealth;
const failed = (url: string, answer: string, count: number): FailedRequests => ({ url, answer, count });

it("failures between two records are what was counted since, by URL and answer", () => {
  const before = health([failed("a", "503", 4), failed("b", "503", 1)]);
  const now = health([failed("a", "503", 9), failed("b", "503", 1), failed("a", "timeout", 2)]);
  expect(failuresSince(before, now, NOW_MS)).toEqual([failed("a", "503", 5), failed("a", "timeout", 2)]);
});

it("failures of a first record count while it is of the last minute, and all do where counts began anew", () => {
  const now = health([failed("a", "503", 9)]);
  expect(failuresSince(undefined, now, NOW_MS + MINUTE_MS)).toEqual([failed("a", "503", 9)]);
  expect(failuresSince(undefined, now, NOW_MS + MINUTE_MS + 1)).toEqual([]);
  const anew = health([failed("a", "503", 9)], NOW_MS + 1);
  expect(failuresSince(now, anew, NOW_MS + 10 * MINUTE_MS)).toEqual([failed("a", "503", 9)]);
});

it("recent failures are the sums of the steps that are asked for, the most first, in whatever order they came", () => {
  const each = fc.record({
    url: fc.constantFrom("a", "b"),
    answer: fc.constantFrom("503", "timeout"),
    count: fc.nat(9),
  });
  const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), each), { maxLength: 30 });
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 60 }), (all, steps) => {
      const recent = new RecentFailures(MINUTE_MS);
      for (const [minute, one] of all) recent.add(NOW_MS + minute * MINUTE_MS, [one]);
      const last = Math.max(0, ...all.map(([minute]) => minute));
      const sums = new Map<string, number>();
      for (const [minute, { url, answer, count }] of all) {
        if (minute > last - steps) sums.set(`${answer} ${url}`, (sums.get(`${answer} ${url}`) ?? 0) + count);
      }
      const reported = recent.failed(NOW_MS + last * MINUTE_MS, steps);
      expect(new Map(reported.map(({ url, answer, count }) => [`${answer} ${url}`, count]))).toEqual(sums);
      const counts = reported.map(({ count }) => count);
      expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    }),
  );
});
