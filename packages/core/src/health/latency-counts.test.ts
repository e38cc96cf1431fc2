import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LATENCY_BOUNDS_MS, LATENCY_BUCKETS, latencyAt, latencyBucket } from "./latency-counts.ts";

const countsOf = (latencies: readonly number[]): number[] => {
  const counts: number[] = new Array(LATENCY_BUCKETS).fill(0);
  for (const ms of latencies) {
    const bucket = latencyBucket(ms);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
};

describe("latencies as counts", () => {
  it("have sixteen buckets from 1 ms, each 1.8 times the last", () => {
    expect([LATENCY_BOUNDS_MS.length, LATENCY_BOUNDS_MS[0], LATENCY_BOUNDS_MS[1]]).toEqual([16, 1, 1.8]);
    expect([latencyBucket(0), latencyBucket(1), latencyBucket(1.1), latencyBucket(60_000)]).toEqual([0, 0, 1, 15]);
  });

  it("are nothing where nothing was counted", () => {
    expect(latencyAt(countsOf([]), 0.99)).toBeNull();
  });

  it("put a quantile into the bucket of the latency that it is", () => {
    const latencies = fc.array(fc.double({ min: 0, max: 6000, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(latencies, fc.constantFrom(0.5, 0.9, 0.99, 1), (all, share) => {
        const exact = all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? 0;
        const reported = latencyAt(countsOf(all), share) ?? -1;
        const bucket = latencyBucket(exact);
        expect(reported).toBeLessThanOrEqual(LATENCY_BOUNDS_MS[bucket] ?? 0);
        expect(reported).toBeGreaterThanOrEqual(bucket === 0 ? 0 : (LATENCY_BOUNDS_MS[bucket - 1] ?? 0));
      }),
    );
  });
});
