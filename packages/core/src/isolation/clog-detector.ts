/**
 * Tells when most of the requests that are out to a URL do not come back, though some do. Answers that come as quickly
 * as ever let as many requests begin as there are answers, and the requests that hang fill the concurrency limit bit by
 * bit.
 *
 * Owns: a period of time, the answers in it, and what it found of the last period. Its owner tells it the time that
 * passed while the process was not blocked, as stall-detector.ts has it.
 * CD1  Of `out` requests that need `usualMs` each, `out / usualMs` come back in a ms. Where fewer than half of that
 *      came back over a whole period, more than half of the requests hang.
 * CD2  A request that began within a period is not counted in it: after a burst there are many out of which none can
 *      have come back yet.
 */

/** A period is at least this long, and at least this many times as long as a request usually needs. */
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

  /** So many ms passed; now `out` requests are out. */
  passed(ms: number, out: number, usualMs: number): void {
    this.#periodMs += ms;
    if (this.#periodMs < Math.max(SHORTEST_PERIOD_MS, USUAL_TIMES * usualMs)) return;
    const throughout = Math.min(this.#outAtStart, out);
    this.#isClogged = this.#answers * usualMs < this.#periodMs * throughout * LEAST_SHARE;
    this.#begin(out);
  }

  /** No request was out for a while. */
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
