/**
 * Tells when requests are out to a URL and nothing comes back.
 *
 * Owns: for how long nothing came back. Its owner tells it the time that passed, and leaves out the time for which this
 * process was blocked and could not have seen an answer.
 */

/** A URL counts as stalled after one and a half times the time that its requests usually need, at the earliest. */
const STALL_FACTOR = 1.5;

export class StallDetector {
  #quietMs = 0;

  /** So many ms passed while requests were out. */
  passed(ms: number): void {
    this.#quietMs += ms;
  }

  /** Something came back, or the first request went out. */
  reset(): void {
    this.#quietMs = 0;
  }

  /**
   * True when nothing came back for longer than `patienceMs`, and for longer than requests that usually need `usualMs`
   * explain.
   */
  isStalled(patienceMs: number, usualMs: number): boolean {
    return this.#quietMs > Math.max(patienceMs, STALL_FACTOR * usualMs);
  }
}
