/** In how large steps identifies go out at a rate. */

/**
 * Identifies that go together, where the rate allows it. Two by two they cost the pipeline about twice as much
 * for each: a produce request, a fetch, and a wake-up of every process behind it. In front of a live event they stand
 * for some milliseconds.
 */
const STEP_IDENTIFIES = 25;
const LONGEST_MS = 50;
const SHORTEST_MS = 5;

/** Ms between two steps while something waits. */
export function stepMsAt(ratePerSecond: number): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (STEP_IDENTIFIES * 1000) / ratePerSecond));
}
