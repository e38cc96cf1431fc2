/**
 * Tells when requests are out to a URL and nothing comes back.
 *
 * Owns: how long it has been quiet. The time is told and not read from a clock: whoever tells it leaves out the time
 * for which the process was blocked itself and could not have seen an answer.
 */

/** A URL that usually needs a while gets that while, and half of it more, before it counts as stalled. */
const STALL_FACTOR = 1.5;

export class StallDetector {
  #quietMs = 0;

  /** So many ms went by while requests were out. */
  passed(ms: number): void {
    this.#quietMs += ms;
  }

  /** Something came back, or the first request went out. */
  reset(): void {
    this.#quietMs = 0;
  }

  /**
   * True when it was quiet for longer than `patienceMs`, and for longer than requests that usually take `usualMs`
   * explain.
   */
  isStalled(patienceMs: number, usualMs: number): boolean {
    return this.#quietMs > Math.max(patienceMs, STALL_FACTOR * usualMs);
  }
}
