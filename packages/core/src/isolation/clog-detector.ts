/**
 * Tells when most of the requests that are out to a URL do not come back, though some do: answers that come as quickly
 * as ever leave room for as many requests as there are answers, and those that hang take it little by little.
 *
 * Owns: a period of time, the answers in it, and what it found of the last one. The time is told, as to the stall
 * detector.
 * L1  Of `out` requests that take `usualMs` each, `out / usualMs` come back in a ms. Where it was less than half of
 *     that over a whole period, more than half of them hang.
 * L2  What began within a period is not counted in it: after a burst there are many out of which none can have come
 *     back yet.
 */

/** So long a period has to be, and so many times what a request usually takes. */
const SHORTEST_PERIOD_MS = 200;
const USUAL_TIMES = 1.5;
const LEAST_SHARE = 0.5;

export class ClogDetector {
  #periodMs = 0;
  #outAtStart = 0;
  #answers = 0;
  #isClogged = false;

  /** As it was found in the last whole period. */
  get isClogged(): boolean {
    return this.#isClogged;
  }

  /** A request came to an outcome. */
  answered(): void {
    this.#answers += 1;
  }

  /** So many ms went by; now `out` requests are out. */
  passed(ms: number, out: number, usualMs: number): void {
    this.#periodMs += ms;
    if (this.#periodMs < Math.max(SHORTEST_PERIOD_MS, USUAL_TIMES * usualMs)) return;
    const throughout = Math.min(this.#outAtStart, out);
    this.#isClogged = this.#answers * usualMs < this.#periodMs * throughout * LEAST_SHARE;
    this.#begin(out);
  }

  /** Nothing was out for a while. */
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
