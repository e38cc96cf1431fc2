/**
 * How the clocks of delivery processes differ from control's, by the moments at which their records say they were
 * written and those at which the records came.
 *
 * Owns: for each process when it was last heard of, and how far its clock was ahead then.
 * PC1  A record that was written before control listened says nothing of a clock: it may have been in the topic for an
 *      hour.
 */
import type { HealthRecord } from "@posthaste/core/health/health-record";

/** How long a process counts that is not heard of, in ms. */
const SILENT_MS = 60_000;

export interface ProcessClock {
  readonly instance: string;
  /** How far the clock is ahead; negative for a clock that is behind, and less by the time that the record took. */
  readonly aheadMs: number;
}

export class ProcessClocks {
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, { readonly atMs: number; readonly aheadMs: number }>();
  #isListening = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** From now on records come as they are written. */
  listen(): void {
    this.#isListening = true;
  }

  see({ instance, writtenAtMs }: Pick<HealthRecord, "instance" | "writtenAtMs">): void {
    if (!this.#isListening) return;
    const atMs = this.#nowMs();
    this.#seen.set(instance, { atMs, aheadMs: writtenAtMs - atMs });
  }

  /** The clocks of the processes that were heard of within a minute. */
  clocks(): readonly ProcessClock[] {
    const sinceMs = this.#nowMs() - SILENT_MS;
    for (const [instance, { atMs }] of this.#seen) if (atMs < sinceMs) this.#seen.delete(instance);
    return [...this.#seen].map(([instance, { aheadMs }]) => ({ instance, aheadMs }));
  }
}
