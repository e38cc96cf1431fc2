/**
 * Tells when most of the requests that are out to a URL do not come back, though some do. A receiver that answers some
 * requests as quickly as ever gets a new request for each answer, so the requests that hang fill the concurrency limit
 * bit by bit.
 *
 * Owns: the current period of time, the answers in it, and the finding of the last whole period. Its owner tells it the
 * time that passed while the process was not blocked, as for stall-detector.ts.
 * CD1  Of `out` requests that need `usualMs` each, `out / usualMs` come back in a millisecond. When fewer than half of
 *      that came back over a whole period, more than half of the requests hang.
 * CD2  A request that began within a period is not counted in that period: after a burst many are out, and none of them
 *      can have come back yet.
 */

/** A period lasts at least this long, and at least `USUAL_TIMES` as long as a request usually needs. */
const SHORTEST_PERIOD_MS = 200;
const USUAL_TIMES = 1.5;
const LEAST_SHARE = 0.5;

export class ClogDetector {
  #periodMs = 0;
  #outAtStart = 0;
  #answers = 0;
  #isClogged = false;

  /** Whether most of the requests hung in the last whole period. */
  get isClogged(): boolean {
    return this.#isClogged;
  }

  /** A request has its outcome. */
  answered(): void {
    this.#answers += 1;
  }

  /** `ms` passed; `out` requests are without an outcome now, and one usually needs `usualMs`. */
  passed(ms: number, out: number, usualMs: number): void {
    this.#periodMs += ms;
    if (this.#periodMs < Math.max(SHORTEST_PERIOD_MS, USUAL_TIMES * usualMs)) return;
    const throughout = Math.min(this.#outAtStart, out);
    this.#isClogged = this.#answers * usualMs < this.#periodMs * throughout * LEAST_SHARE;
    this.#begin(out);
  }

  /** No request is without an outcome. */
  reset(): void {
    this.#isClogged = false;
    this.#begin(0);
  }

  #begin(out: number): void {
    this.#periodMs = 0;
    this.#answers = 0;
    this.#outAtStart = out;
  }
}
