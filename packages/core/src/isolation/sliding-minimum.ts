/** The least of the values that were noted within the last one to two minutes, in constant memory. */

const PERIOD_MS = 60_000;

/**
 * Owns: the least value of the current period of a minute, and the least value of the period before.
 * SM1  `value` is the least that was noted within the last one to two periods; Infinity when nothing was.
 */
export class SlidingMinimum {
  #startedMs = Number.NEGATIVE_INFINITY;
  #before = Number.POSITIVE_INFINITY;
  #now = Number.POSITIVE_INFINITY;

  get value(): number {
    return Math.min(this.#before, this.#now);
  }

  note(value: number, nowMs: number): void {
    if (nowMs - this.#startedMs >= PERIOD_MS) {
      // After a pause of two periods no earlier value counts any more.
      this.#before = nowMs - this.#startedMs < 2 * PERIOD_MS ? this.#now : Number.POSITIVE_INFINITY;
      this.#now = Number.POSITIVE_INFINITY;
      this.#startedMs = nowMs;
    }
    if (value < this.#now) this.#now = value;
  }
}
