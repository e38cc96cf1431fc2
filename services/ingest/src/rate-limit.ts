/**
 * How fast one source may send: a bucket of one second's calls for each, filled continuously.
 *
 * A batch is taken whole while anything is left in the bucket and leaves a debt that the next ones wait for: a client that
 * sends large batches is slowed down, and never refused for their size.
 */

export interface RateLimit {
  /** Takes `calls` from the source's bucket. Answers 0, or the ms until the bucket has something again (nothing is taken). */
  take(sourceId: string, calls: number): number;
}

export interface RateLimitOptions {
  readonly callsPerSecond: number;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

interface Bucket {
  calls: number;
  filledAtMs: number;
}

export function createRateLimit({ callsPerSecond, monotonicMs }: RateLimitOptions): RateLimit {
  const buckets = new Map<string, Bucket>();

  const filled = (sourceId: string): Bucket => {
    const nowMs = monotonicMs();
    const bucket = buckets.get(sourceId);
    if (bucket === undefined) {
      const full = { calls: callsPerSecond, filledAtMs: nowMs };
      buckets.set(sourceId, full);
      return full;
    }
    const earned = ((nowMs - bucket.filledAtMs) * callsPerSecond) / 1000;
    bucket.calls = Math.min(callsPerSecond, bucket.calls + earned);
    bucket.filledAtMs = nowMs;
    return bucket;
  };

  return {
    take: (sourceId, calls) => {
      const bucket = filled(sourceId);
      if (bucket.calls <= 0) return Math.max(1, (-bucket.calls * 1000) / callsPerSecond);
      bucket.calls -= calls;
      return 0;
    },
  };
}
