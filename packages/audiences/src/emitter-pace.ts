/**
 * When identifies go out, and how many in one step.
 *
 * Owns: the token bucket of the rate.
 * EP1  Over any second at most the rate and a tenth of it go, however long no step was made: an emitter that fell
 *      behind does not catch up.
 * EP2  While records wait all the time, and steps come when they were planned, the rate is reached.
 */
import { TokenBucket } from "@posthaste/core/isolation/token-bucket";

/**
 * How many identifies go in one step, where the rate allows it. Two at a time cost the pipeline about twice as much for
 * each: a produce request, a fetch, and a wake-up of every process behind it. A step delays a live event by some
 * milliseconds.
 */
const STEP_IDENTIFIES = 25;
const LONGEST_MS = 50;
const SHORTEST_MS = 5;

export class EmitterPace {
  readonly #bucket: TokenBucket;

  constructor(ratePerSecond: number, nowMs: number) {
    this.#bucket = new TokenBucket(ratePerSecond, nowMs);
  }

  /** Takes leave for one identify; false when none may go now. */
  takeTurn(nowMs: number): boolean {
    if (!this.#bucket.hasToken(nowMs)) return false;
    this.#bucket.take(1, nowMs);
    return true;
  }

  /** Ms until the next step, while records wait. */
  nextStepMs(nowMs: number): number {
    return Math.max(stepMsAt(this.#bucket.perSecond), this.#bucket.waitMs(1, nowMs));
  }
}

/** Ms between two steps at this rate, while records wait. */
export function stepMsAt(ratePerSecond: number): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (STEP_IDENTIFIES * 1000) / ratePerSecond));
}
