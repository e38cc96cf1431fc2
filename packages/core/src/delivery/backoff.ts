/** Backoff: the growing delays between attempts, and the jitter that spreads deliveries that came due together. */

/** The default schedule. Its last attempt starts 3 h 51 min 40 s after the first. */
export const DEFAULT_RETRY_DELAYS_MS: readonly number[] = [
  10_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 3_600_000, 3_600_000,
];

/** A due record leaves its retry topic within a second, its jitter included. */
const LONGEST_JITTER_MS = 900;

/** The terms that a delivery's jitter depends on. */
export interface JitterTerms {
  /** The delay of the delivery's retry topic. */
  readonly delayMs: number;
  /** The retry schedule. */
  readonly delaysMs: readonly number[];
  /** How full the window is in which the delivery waits for its jitter, from 0 to 1. */
  readonly fill: number;
}

/**
 * Ms that a delivery waits after it came due (W6): evenly spread from 0 to the least of a tenth of its delay, half of
 * the smallest gap between two attempts, and `LONGEST_JITTER_MS`. The jitter shrinks as the window fills: a delivery
 * that waits keeps its place there, so that with a whole jitter the window would let through only one windowful in that
 * time, and make the deliveries behind it late. So many due deliveries are spread without it. `random` is at least 0
 * and below 1.
 */
export function jitterMs({ delayMs, delaysMs, fill }: JitterTerms, random: number): number {
  const smallestGapMs = delaysMs.reduce((least, gapMs) => Math.min(least, gapMs), delayMs);
  return random * Math.min(delayMs / 10, smallestGapMs / 2, LONGEST_JITTER_MS) * Math.max(0, 1 - fill);
}
