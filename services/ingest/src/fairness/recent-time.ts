/**
 * How much of the process's time each source has had lately.
 *
 * Owns a sum of ms for each source, of which half is left a second later.
 */
export interface RecentTime {
  add(sourceId: string, ms: number): void;
  /** In ms; 0 of a source that had none. */
  of(sourceId: string): number;
}

const HALF_LIFE_MS = 1_000;

interface Sum {
  ms: number;
  atMs: number;
}

/** `monotonicMs`: ms, never going back. */
export function createRecentTime(monotonicMs: () => number): RecentTime {
  const sums = new Map<string, Sum>();
  const left = ({ ms, atMs }: Sum): number => ms * 0.5 ** ((monotonicMs() - atMs) / HALF_LIFE_MS);

  return {
    add: (sourceId, ms) => {
      const sum = sums.get(sourceId);
      sums.set(sourceId, { ms: ms + (sum === undefined ? 0 : left(sum)), atMs: monotonicMs() });
    },
    of: (sourceId) => {
      const sum = sums.get(sourceId);
      return sum === undefined ? 0 : left(sum);
    },
  };
}
