/**
 * How long the requests to one URL took to their outcome.
 *
 * Owns: the mean time, which newer requests count more in, and the least time of the last minute or two.
 */
import { SlidingMinimum } from "./sliding-minimum.ts";

/** Weight of a new sample in the mean. */
const SAMPLE_WEIGHT = 0.1;

export class RequestTimes {
  #meanMs: number | null = null;
  readonly #least = new SlidingMinimum();

  /** The mean, without the time for which this process was blocked; 0 before the first request. */
  get meanMs(): number {
    return this.#meanMs ?? 0;
  }

  /** The least; Infinity when no request ended lately. */
  get leastMs(): number {
    return this.#least.value;
  }

  /** A request took so long; for `blockedMs` of that this process was blocked. */
  note(tookMs: number, nowMs: number, blockedMs: number): void {
    // The whole time, since the receiver may have needed all of it: it counts as quick only when it was seen to be.
    this.#least.note(tookMs, nowMs);
    const neededMs = Math.max(0, tookMs - blockedMs);
    this.#meanMs = this.#meanMs === null ? neededMs : this.#meanMs + SAMPLE_WEIGHT * (neededMs - this.#meanMs);
  }
}
