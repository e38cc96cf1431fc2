/**
 * The lag of the owned partitions, for the public metrics: exact, and only while the partitions are owned.
 *
 * Lag in records is the end offset minus the committable offset. Lag in seconds is now minus the append time of the
 * lowest unfinished record, 0 when no such record is known. The records of a retry topic are also counted as waiting.
 *
 * Owns: the series, and the one question for end offsets that may be open. Of a partition that is paused, or whose
 * broker is gone, the end offset is known only by that question.
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { ledEnds } from "../connection/topic-offsets.ts";
import type { TopicPartition } from "./rebalance.ts";

/** What is asked of an owned partition. */
export interface Lagging extends TopicPartition {
  readonly isLocating: boolean;
  readonly committableOffset: number;
  readonly endOffset: number;
  readonly oldestUnfinishedMs: number | null;
  noteEnd(end: number): void;
  /** Whether the partition has a leader to be fetched from. */
  noteLeader(isLed: boolean): void;
}

export interface LagMeterOptions {
  readonly connection: KafkaConnection;
  readonly owned: () => readonly Lagging[];
  readonly clock: Clock;
  /** Whether the topics are retry topics. */
  readonly countWaiting: boolean;
}

export class LagMeter {
  readonly #options: LagMeterOptions;
  #isAsking = false;

  constructor(options: LagMeterOptions) {
    this.#options = options;
  }

  /** Sets the series of what is owned. */
  publish(): void {
    const { connection, owned, clock, countWaiting } = this.#options;
    const { metrics } = connection;
    if (metrics === undefined) return;
    const waiting = new Map<string, number>();
    for (const each of owned()) {
      if (each.isLocating) continue;
      const labels = labelsOf(each);
      const records = each.endOffset - each.committableOffset;
      const oldestMs = each.oldestUnfinishedMs;
      metrics.consumerLagRecords.set(labels, records);
      metrics.consumerLagSeconds.set(labels, oldestMs === null ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1000);
      waiting.set(each.topic, (waiting.get(each.topic) ?? 0) + records);
    }
    if (!countWaiting) return;
    for (const [topic, records] of waiting) metrics.waitingRecords.set({ topic }, records);
  }

  /** Removes the series of what is owned no more; call when `owned` says so. */
  forget(lost: readonly TopicPartition[]): void {
    const { metrics } = this.#options.connection;
    if (metrics === undefined) return;
    const topics = new Set(this.#options.owned().map(({ topic }) => topic));
    for (const each of lost) {
      metrics.consumerLagRecords.remove(labelsOf(each));
      metrics.consumerLagSeconds.remove(labelsOf(each));
      if (!topics.has(each.topic)) metrics.waitingRecords.remove({ topic: each.topic });
    }
  }

  /** Asks the brokers for the end offsets, of all topics at once, and tells the partitions; never rejects. */
  async readEnds(): Promise<void> {
    const { connection, owned } = this.#options;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const topics = [...new Set(owned().map(({ topic }) => topic))];
      const found = await ledEnds(connection, topics);
      for (const each of owned()) {
        const ofTopic = found.get(each.topic);
        if (ofTopic === undefined) continue;
        each.noteLeader(!ofTopic.leaderless.includes(each.partition));
        const end = ofTopic.ends.get(each.partition);
        if (end !== undefined) each.noteEnd(end);
      }
    } catch (error) {
      connection.log.debug({ event: "end_offsets_unknown", err: error });
    } finally {
      this.#isAsking = false;
    }
  }
}

function labelsOf({ topic, partition }: TopicPartition): { topic: string; partition: string } {
  return { topic, partition: String(partition) };
}
