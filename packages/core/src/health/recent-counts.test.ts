import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DestinationHealth } from "./health-record.ts";
import { LATENCY_BUCKETS } from "./latency-counts.ts";
import { type Counted, countsSince, RecentCounts } from "./recent-counts.ts";

const MINUTE_MS = 60_000;
const NOW_MS = 1_800_000_000_000;

const latencies = fc.array(fc.nat(50), { minLength: LATENCY_BUCKETS, maxLength: LATENCY_BUCKETS });
const counted: fc.Arbitrary<Counted> = fc.record({
  ...{ delivered: fc.nat(50), retryable: fc.nat(50), permanent: fc.nat(50), deferred: fc.nat(50) },
  latencies,
});
const health = (counts: Counted, countedSinceMs: number): DestinationHealth => ({
  ...{ ...counts, deferred: { breaker_open: counts.deferred }, countedSinceMs, waiting: 0, urls: [] },
  ...{ deliveredAtMs: null, failedAtMs: null, failingSinceMs: null, recoveredAtMs: null, failures: [] },
});
const sum = (one: Counted, other: Counted): Counted => ({
  delivered: one.delivered + other.delivered,
  retryable: one.retryable + other.retryable,
  permanent: one.permanent + other.permanent,
  deferred: one.deferred + other.deferred,
  latencies: one.latencies.map((count, bucket) => count + (other.latencies[bucket] ?? 0)),
});
const NOTHING: Counted = {
  ...{ delivered: 0, retryable: 0, permanent: 0, deferred: 0 },
  latencies: new Array(LATENCY_BUCKETS).fill(0),
};

describe("what a process counted between two records", () => {
  it("adds up to what it counted, whichever records compaction removed", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(counted, fc.boolean()), { minLength: 1, maxLength: 20 }), (steps) => {
        let total = NOTHING;
        const written = steps.map(([more, isKept]) => {
          total = sum(total, more);
          return { record: health(total, NOW_MS), isKept };
        });
        const [first, ...others] = written;
        const kept = [first, ...others.slice(0, -1).filter(({ isKept }) => isKept), ...others.slice(-1)];
        let before: DestinationHealth | undefined;
        let added = NOTHING;
        for (const each of kept) {
          if (each === undefined) continue;
          added = sum(added, countsSince(before, each.record, NOW_MS));
          before = each.record;
        }
        expect(added).toEqual(total);
      }),
    );
  });

  it("is all of the record where the counts began anew", () => {
    const before = health({ ...NOTHING, delivered: 90 }, NOW_MS);
    const anew = health({ ...NOTHING, delivered: 100 }, NOW_MS + 1);
    expect(countsSince(before, anew, NOW_MS + 10_000_000).delivered).toBe(100);
  });

  it("is nothing for a first record whose counts are of long ago, and all of one whose are not", () => {
    const first = health({ ...NOTHING, delivered: 90 }, NOW_MS);
    expect(countsSince(undefined, first, NOW_MS + MINUTE_MS).delivered).toBe(90);
    expect(countsSince(undefined, first, NOW_MS + MINUTE_MS + 1)).toEqual(NOTHING);
  });
});

describe("recent counts", () => {
  it("are those of the steps that are asked for, whatever came before and in whatever order", () => {
    const entry = fc.tuple(fc.integer({ min: 0, max: 150 }), counted);
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), fc.integer({ min: 1, max: 60 }), (entries, steps) => {
        const recent = new RecentCounts(MINUTE_MS);
        for (const [minute, each] of entries) recent.add(NOW_MS + minute * MINUTE_MS, each);
        const last = Math.max(0, ...entries.map(([minute]) => minute));
        const wanted = (most: number) =>
          entries.filter(([minute]) => minute > last - most).reduce((all, [, each]) => sum(all, each), NOTHING);
        const nowMs = NOW_MS + last * MINUTE_MS;
        const { delivered, retryable, permanent } = wanted(steps);
        expect(recent.attempts(nowMs, steps)).toEqual({ delivered, failed: retryable + permanent });
        expect(recent.latencies(nowMs, steps)).toEqual(wanted(Math.min(steps, 6)).latencies);
      }),
    );
  });

  it("are nothing when their time has passed", () => {
    const recent = new RecentCounts(MINUTE_MS);
    recent.add(NOW_MS, { ...NOTHING, delivered: 5 });
    expect(recent.attempts(NOW_MS + 4 * MINUTE_MS, 5).delivered).toBe(5);
    expect(recent.attempts(NOW_MS + 5 * MINUTE_MS, 5).delivered).toBe(0);
    expect(recent.attempts(NOW_MS + MINUTE_MS, 5, 2).delivered).toBe(0);
  });

  it("say since when too many fail, over minutes without attempts, and nothing when the newest are well", () => {
    const recent = new RecentCounts(MINUTE_MS);
    const at = (minute: number) => Math.floor(NOW_MS / MINUTE_MS) * MINUTE_MS + minute * MINUTE_MS;
    recent.add(at(0), { ...NOTHING, retryable: 5 });
    recent.add(at(1), { ...NOTHING, delivered: 100, permanent: 5 });
    recent.add(at(2), { ...NOTHING, delivered: 90, retryable: 10 });
    recent.add(at(5), { ...NOTHING, permanent: 1 });
    expect(recent.failingSinceMs(at(6))).toBe(at(2));
    recent.add(at(6), { ...NOTHING, delivered: 1 });
    expect(recent.failingSinceMs(at(6))).toBeNull();
  });
});
