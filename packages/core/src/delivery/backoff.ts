/** Growing delays between attempts, and the jitter that spreads what came due together. */

/** decisions.md: the last attempt starts 3 h 51 min 40 s after the first. */
export const DEFAULT_RETRY_DELAYS_MS: readonly number[] = [
  10_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 3_600_000, 3_600_000,
];

/** Due records leave within a second of their time, the jitter included. */
const LONGEST_JITTER_MS = 900;

/** What a delivery's jitter depends on. */
export interface JitterTerms {
  /** What it waited for in its retry topic. */
  readonly delayMs: number;
  /** The retry schedule. */
  readonly delaysMs: readonly number[];
  /** How full the window is in which it waits for its jitter, 0 to 1. */
  readonly fill: number;
}

/**
 * Ms to wait after a delivery came due (W6), evenly spread from 0 up to a tenth of its delay, half of the smallest gap
 * between two attempts, or `LONGEST_JITTER_MS`, whichever is least. It shrinks as the window fills: a delivery that
 * waits holds a place there, so a whole jitter would let no more through in its own length than the window holds, and
 * make the deliveries behind it late. Enough is due then to be spread anyway. `random` is from 0 up to but not
 * including 1.
 */
export function jitterMs({ delayMs, delaysMs, fill }: JitterTerms, random: number): number {
  const smallestGapMs = delaysMs.reduce((least, gapMs) => Math.min(least, gapMs), delayMs);
  return random * Math.min(delayMs / 10, smallestGapMs / 2, LONGEST_JITTER_MS) * Math.max(0, 1 - fill);
}
