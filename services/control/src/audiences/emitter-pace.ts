/**
 * When identifies go out, and how many in one step.
 *
 * Owns: what may go at once still.
 * EP1  Over any second no more go than the rate and a tenth of it, however long nobody stepped: who fell behind does
 *      not catch up.
 * EP2  Where something waits all the time and steps come when they were asked for, the rate is reached.
 */
import { TokenBucket } from "@posthaste/core/isolation/token-bucket";

/**
 * Identifies that go together, where the rate allows it. Two by two they cost the pipeline about twice as much
 * for each: a produce request, a fetch, and a wake-up of every process behind it. In front of a live event they stand
 * for some milliseconds.
 */
const STEP_IDENTIFIES = 25;
const LONGEST_MS = 50;
const SHORTEST_MS = 5;

export class EmitterPace {
  readonly #bucket: TokenBucket;

  constructor(ratePerSecond: number, nowMs: number) {
    this.#bucket = new TokenBucket(ratePerSecond, nowMs);
  }

  /** Whether one identify may go now, which is counted then. */
  takeTurn(nowMs: number): boolean {
    if (!this.#bucket.hasToken(nowMs)) return false;
    this.#bucket.take(1, nowMs);
    return true;
  }

  /** Ms until the next step, while something waits. */
  nextStepMs(nowMs: number): number {
    return Math.max(stepMsAt(this.#bucket.perSecond), this.#bucket.waitMs(1, nowMs));
  }
}

/** Ms between two steps while something waits. */
export function stepMsAt(ratePerSecond: number): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (STEP_IDENTIFIES * 1000) / ratePerSecond));
}
