/**
 * Tells when requests are out to a URL and nothing comes back.
 *
 * Owns: for how long nothing came back. Its owner reports the time that passed, without the time for which this process
 * was blocked and could not have seen an answer.
 */

/** A URL counts as stalled no sooner than after this many times the time that its requests usually need. */
const STALL_FACTOR = 1.5;

export class StallDetector {
  #quietMs = 0;

  /** `ms` passed while requests were out. */
  passed(ms: number): void {
    this.#quietMs += ms;
  }

  /** Something came back, or the first request went out. */
  reset(): void {
    this.#quietMs = 0;
  }

  /**
   * Whether nothing came back for longer than `patienceMs`, and for longer than requests that usually need `usualMs`
   * explain.
   */
  isStalled(patienceMs: number, usualMs: number): boolean {
    return this.#quietMs > Math.max(patienceMs, STALL_FACTOR * usualMs);
  }
}
