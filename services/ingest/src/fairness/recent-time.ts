/**
 * How much of the process's time each source had lately.
 *
 * Owns: for each source a sum of ms, which halves every second.
 * RC1  Once more than `MAX_SUMS` are held, the sums of sources that had no time for `FORGOTTEN_AFTER_MS` are dropped:
 *      almost nothing is left of them.
 */
export interface RecentTime {
  add(sourceId: string, ms: number): void;
  /** The source's sum in ms; 0 when it had no time. */
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

/** `monotonicMs`: the monotonic clock, in ms. */
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
