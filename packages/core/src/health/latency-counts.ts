/** Latencies, counted in sixteen buckets. The counts of several processes add up. */

export const LATENCY_BUCKETS = 16;

/**
 * The upper end of each bucket, in ms: 1 ms for the first, 1.8 times the one before for each other. The last bucket
 * also has everything that took longer.
 */
export const LATENCY_BOUNDS_MS: readonly number[] = Array.from({ length: LATENCY_BUCKETS }, (_, index) => 1.8 ** index);

/** The bucket of a latency in ms. */
export function latencyBucket(ms: number): number {
  for (let bucket = 0; bucket < LATENCY_BUCKETS - 1; bucket++) {
    if (ms <= (LATENCY_BOUNDS_MS[bucket] ?? 0)) return bucket;
  }
  return LATENCY_BUCKETS - 1;
}

/**
 * The latency in ms that `share` (0 to 1) of the requests did not exceed, as exact as the buckets are; null when
 * nothing was counted. The last bucket gives no better answer than its own bounds.
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
