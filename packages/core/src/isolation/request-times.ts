/**
 * How long the requests to one URL took until their outcome.
 *
 * Owns: the mean time, in which newer requests weigh more, and the least time of the last one to two minutes.
 */
import { SlidingMinimum } from "./sliding-minimum.ts";

/** The weight of a new request in the mean. */
const SAMPLE_WEIGHT = 0.1;

export class RequestTimes {
  #meanMs: number | null = null;
  readonly #least = new SlidingMinimum();

  /** The mean, without the time for which this process was blocked; 0 before the first outcome. */
  get meanMs(): number {
    return this.#meanMs ?? 0;
  }

  /** The least; Infinity when no request had its outcome within the last one to two minutes. */
  get leastMs(): number {
    return this.#least.value;
  }

  /** A request had its outcome after `tookMs`; for `blockedMs` of that time this process was blocked. */
  note(tookMs: number, nowMs: number, blockedMs: number): void {
    // The least counts the whole time, since the receiver may have needed all of it: it is quick only once it was
    // seen to be.
    this.#least.note(tookMs, nowMs);
    const neededMs = Math.max(0, tookMs - blockedMs);
    this.#meanMs = this.#meanMs === null ? neededMs : this.#meanMs + SAMPLE_WEIGHT * (neededMs - this.#meanMs);
  }
}
