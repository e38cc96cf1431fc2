/**
 * A rate that is kept over its whole time, and not only between two steps. After a pause the sender catches up with at
 * most one second of delayed sends.
 */
const CATCH_UP_MS = 1000;

export class Pace {
  readonly #perSecond: number;
  #originMs: number;
  #taken = 0;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#originMs = nowMs;
  }

  /** How many may go now. */
  allowed(nowMs: number): number {
    const dueMs = this.#originMs + ((this.#taken + 1) / this.#perSecond) * 1000;
    if (nowMs - dueMs > CATCH_UP_MS) this.#originMs += nowMs - dueMs - CATCH_UP_MS;
    return Math.floor(((nowMs - this.#originMs) / 1000) * this.#perSecond + 1e-9) - this.#taken;
  }

  take(count: number): void {
    this.#taken += count;
  }
}
