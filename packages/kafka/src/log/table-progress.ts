/**
 * How current a table is. A caller that relies on a table that no longer follows its topic would act on old data.
 *
 * Owns: the time at which the table last held its whole topic, and two metrics of that.
 * - Only an answer of the brokers counts. A reader that gets no answer, and a reader that cannot take its answer, both
 *   fall behind.
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaMetrics } from "../connection/metrics.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import type { FetchedTo } from "./log-reader.ts";

/** In ms: longer than a leader's failover takes, and seven times as long as an idle fetch waits. */
export const BEHIND_LIMIT_MS = 15_000;

export interface TableProgressOptions {
  readonly topic: string;
  readonly metrics: KafkaMetrics | undefined;
  /** How long the table may be without having reached its topic's end, in ms. Default `BEHIND_LIMIT_MS`. */
  readonly limitMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

export class TableProgress {
  readonly #options: TableProgressOptions;
  readonly #clock: Clock;
  /** By the monotonic clock; null before the first time. */
  #caughtUpAtMs: number | null = null;
  #asOfMs: number | null = null;

  constructor(options: TableProgressOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
  }

  /**
   * When the table last was at its topic's end: the time at which the brokers were asked for that end, in ms since the
   * epoch. Null before.
   */
  get asOfMs(): number | null {
    return this.#asOfMs;
  }

  /** The brokers said where the topic ends, while the table had read up to `position`. */
  reached({ position, end, askedAt }: FetchedTo): void {
    const { topic, metrics } = this.#options;
    metrics?.tableBehindRecords.set({ topic }, Math.max(0, end - position));
    if (position < end) return;
    this.#caughtUpAtMs = this.#clock.monotonicMs();
    this.#asOfMs = askedAt.wallMs;
    metrics?.tableCaughtUpTimestamp.set({ topic }, this.#clock.nowMs() / 1000);
  }

  /** For `/readyz`: true, or a text that names the missing step. */
  get state(): true | string {
    const { topic, limitMs = BEHIND_LIMIT_MS } = this.#options;
    if (this.#caughtUpAtMs === null) return `reading ${topic}`;
    const ageMs = this.#clock.monotonicMs() - this.#caughtUpAtMs;
    return ageMs < limitMs || `${topic} was last read to its end ${Math.round(ageMs / 1000)} s ago`;
  }
}
