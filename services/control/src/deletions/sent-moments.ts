/**
 * For how long this process has known that a request was carried out, by its own clock: that of the process that
 * carried it out may differ by any time.
 *
 * Owns: the moments of the requests that became known in the last `KEEP_MS`.
 */
import type { Clock } from "@posthaste/core/time";

/** Whoever asks is content with less. */
const KEEP_MS = 60_000;

export class SentMoments {
  readonly #clock: Clock;
  /** In the order in which they became known. */
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
    // What is written again of a request that is known says nothing new.
    if (!this.#knownAtMs.has(id)) this.#knownAtMs.set(id, nowMs);
  }

  /** Of a request that is carried out; without end for one that has been known for long. */
  forMs(id: string): number {
    const atMs = this.#knownAtMs.get(id);
    return atMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - atMs;
  }
}
