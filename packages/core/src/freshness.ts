/** The freshness of a list that a process reads from a topic. */
export interface Freshness {
  /** Everything that stood in the topic at this moment has been read, ms since the epoch; null before that is known. */
  readonly asOfMs: number | null;
  /** False while the process is still reading the topic: entries may be missing, the newest ones most of all. */
  readonly complete: boolean;
}

/** The freshness of a list that is made of two topics: the older `asOfMs`, and complete only where both are. */
export function mergedFreshness(one: Freshness, other: Freshness): Freshness {
  const asOfMs = one.asOfMs === null || other.asOfMs === null ? null : Math.min(one.asOfMs, other.asOfMs);
  return { asOfMs, complete: one.complete && other.complete };
}
