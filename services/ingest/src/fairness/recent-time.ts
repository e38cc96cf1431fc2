/**
 * How much of the process's time each source has had lately.
 *
 * Owns a sum of ms for each source, of which half is left a second later.
 * RC1  Once more than `MAX_SUMS` are held, those of sources that had no time for `FORGOTTEN_AFTER_MS` are dropped: next
 *      to nothing is left of them.
 */
export interface RecentTime {
  add(sourceId: string, ms: number): void;
  /** In ms; 0 of a source that had none. */
  of(sourceId: string): number;
  /** How many sums are held (RC1). */
  readonly size: number;
}

const HALF_LIFE_MS = 1_000;
const MAX_SUMS = 4_096;
/** After ten half-lives a thousandth is left. */
const FORGOTTEN_AFTER_MS = 10 * HALF_LIFE_MS;

interface Sum {
  ms: number;
  atMs: number;
}

/** `monotonicMs`: ms, never going back. */
export function createRecentTime(monotonicMs: () => number): RecentTime {
  const sums = new Map<string, Sum>();
  const leftAt = (nowMs: number, { ms, atMs }: Sum): number => ms * 0.5 ** ((nowMs - atMs) / HALF_LIFE_MS);

  const forgetQuiet = (nowMs: number): void => {
    for (const [id, { atMs }] of sums) if (nowMs - atMs >= FORGOTTEN_AFTER_MS) sums.delete(id);
  };

  return {
    add: (sourceId, ms) => {
      const nowMs = monotonicMs();
      const sum = sums.get(sourceId);
      if (sum === undefined) {
        if (sums.size >= MAX_SUMS) forgetQuiet(nowMs);
        sums.set(sourceId, { ms, atMs: nowMs });
        return;
      }
      sum.ms = ms + leftAt(nowMs, sum);
      sum.atMs = nowMs;
    },
    of: (sourceId) => {
      const sum = sums.get(sourceId);
      return sum === undefined ? 0 : leftAt(monotonicMs(), sum);
    },
    get size() {
      return sums.size;
    },
  };
}
