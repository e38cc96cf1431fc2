/** The least of the values of the last minute or two, in constant memory. */

const PERIOD_MS = 60_000;

/**
 * Owns: the least value of this period and of the one before.
 * SM1  `value` is the least of those noted within the last one to two periods; Infinity when there was none.
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
      // After a pause of two periods nothing of what was noted is of late.
      this.#before = nowMs - this.#startedMs < 2 * PERIOD_MS ? this.#now : Number.POSITIVE_INFINITY;
      this.#now = Number.POSITIVE_INFINITY;
      this.#startedMs = nowMs;
    }
    if (value < this.#now) this.#now = value;
  }
}
