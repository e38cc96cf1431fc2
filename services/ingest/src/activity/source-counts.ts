/** The counts of one source since its last record. */
import type { RefusedRequest, SourceActivity } from "@posthaste/core/call/source-activity";

export class SourceCounts {
  readonly #sinceMs: number;
  #accepted = 0;
  #lastAcceptedMs: number | null = null;
  readonly #rejected = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #samples: RefusedRequest[] = [];

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  get samples(): number {
    return this.#samples.length;
  }

  accepted(calls: number, nowMs: number): void {
    this.#accepted += calls;
    this.#lastAcceptedMs = nowMs;
  }

  rejected(code: string): void {
    this.#rejected.set(code, (this.#rejected.get(code) ?? 0) + 1);
  }

  refused(code: string): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  addSample(sample: RefusedRequest): void {
    this.#samples.push(sample);
  }

  toRecord(sourceId: string, instance: string, untilMs: number): SourceActivity {
    return {
      ...{ sourceId, instance, sinceMs: this.#sinceMs, untilMs },
      accepted: this.#accepted,
      lastAcceptedMs: this.#lastAcceptedMs,
      rejected: Object.fromEntries(this.#rejected),
      refused: Object.fromEntries(this.#refused),
      samples: this.#samples,
    };
  }
}
