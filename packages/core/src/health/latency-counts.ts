/** Latencies as counts: how many fell into each of sixteen buckets. Counts of several processes add up. */

export const LATENCY_BUCKETS = 16;

/** The upper end of each bucket, ms: 1 ms, and 1.8 times the last from there; the last holds all that took longer. */
export const LATENCY_BOUNDS_MS: readonly number[] = Array.from({ length: LATENCY_BUCKETS }, (_, index) => 1.8 ** index);

/** The bucket of a latency in ms. */
export function latencyBucket(ms: number): number {
  for (let bucket = 0; bucket < LATENCY_BUCKETS - 1; bucket++) {
    if (ms <= (LATENCY_BOUNDS_MS[bucket] ?? 0)) return bucket;
  }
  return LATENCY_BUCKETS - 1;
}

/**
 * The latency in ms that `share` (0 to 1) of what was counted does not exceed, as exact as the buckets are; null when
 * nothing was counted. Of what is in the last bucket nothing is known but that it took longer than the one before it.
 */
export function latencyAt(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let below = 0;
  for (const [bucket, count] of counts.entries()) {
    const wanted = share * total - below;
    if (count > 0 && wanted <= count) return within(bucket, Math.max(0, wanted) / count);
    below += count;
  }
  return LATENCY_BOUNDS_MS.at(-1) ?? null;
}

function within(bucket: number, share: number): number {
  const from = bucket === 0 ? 0 : (LATENCY_BOUNDS_MS[bucket - 1] ?? 0);
  return from + ((LATENCY_BOUNDS_MS[bucket] ?? from) - from) * share;
}
