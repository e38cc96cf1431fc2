/**
 * The time for which this process has known that a request was carried out, by its own clock. The clock of the process
 * that carried it out may differ by any time.
 *
 * Owns: the moments at which requests became known, of the last `KEEP_MS`.
 */
import type { Clock } from "@posthaste/core/time";

/** How long a moment is kept, in ms; longer than callers need. */
const KEEP_MS = 60_000;

export class SentMoments {
  readonly #clock: Clock;
  /** The moments at which requests became known, in that order. */
  readonly #knownAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(id: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [known, atMs] of this.#knownAtMs) {
      if (nowMs - atMs < KEEP_MS) break;
      this.#knownAtMs.delete(known);
    }
    // A record that is written again for a known request changes nothing.
    if (!this.#knownAtMs.has(id)) this.#knownAtMs.set(id, nowMs);
  }

  /** For how many ms a request that was carried out has been known; Infinity for one that became known long ago. */
  forMs(id: string): number {
    const atMs = this.#knownAtMs.get(id);
    return atMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - atMs;
  }
}
