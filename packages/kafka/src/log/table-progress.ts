/**
 * How far a table has come, for whoever judges by what it holds: a table that froze holds what was true once.
 *
 * Owns: when the table last held all that its topic did, and the two series that say so.
 * TP1  Only an answer of the brokers is a sign of life: a reader that gets no answer and a reader that cannot take what
 *      it got grow old alike.
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaMetrics } from "../connection/metrics.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import type { FetchedTo } from "./log-reader.ts";

/** Longer than a leader's failover takes, and seven times what an idle fetch waits. */
export const BEHIND_LIMIT_MS = 15_000;

export interface TableProgressOptions {
  readonly topic: string;
  readonly metrics: KafkaMetrics | undefined;
  /** How long the table may not have been at its topic's end; default `BEHIND_LIMIT_MS`. */
  readonly limitMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

export class TableProgress {
  readonly #options: TableProgressOptions;
  readonly #clock: Clock;
  /** On the clock that does not step; null before the first time. */
  #caughtUpAtMs: number | null = null;
  #asOfMs: number | null = null;

  constructor(options: TableProgressOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
  }

  /** When the brokers were asked where the topic ends, the last time that the reading stood there; null before. */
  get asOfMs(): number | null {
    return this.#asOfMs;
  }

  /** The brokers said where the topic ends while the reading stood at `position`. */
  reached({ position, end, askedAt }: FetchedTo): void {
    const { topic, metrics } = this.#options;
    metrics?.tableBehindRecords.set({ topic }, Math.max(0, end - position));
    if (position < end) return;
    this.#caughtUpAtMs = this.#clock.monotonicMs();
    this.#asOfMs = askedAt.wallMs;
    metrics?.tableCaughtUpTimestamp.set({ topic }, this.#clock.nowMs() / 1000);
  }

  /** For `/readyz`: true, or what is missing. */
  get state(): true | string {
    const { topic, limitMs = BEHIND_LIMIT_MS } = this.#options;
    if (this.#caughtUpAtMs === null) return `reading ${topic}`;
    const ageMs = this.#clock.monotonicMs() - this.#caughtUpAtMs;
    return ageMs < limitMs || `${topic} was last read to its end ${Math.round(ageMs / 1000)} s ago`;
  }
}
