/**
 * The lag of the owned partitions, as the public metrics show it. The series exist only while this process owns the
 * partition.
 *
 * Lag in records is the end offset minus the committable offset. Lag in seconds is the time since the append time of
 * the lowest unfinished record; 0 when no such record is known. Records of a retry topic also count as waiting, and its
 * lowest one is overdue from the moment at which it was due.
 *
 * Owns: the series, and the one request for end offsets that may be out. For a partition that is paused or whose leader
 * is gone, only that request learns the end offset.
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { ledEnds } from "../connection/topic-offsets.ts";
import type { TopicPartition } from "./rebalance.ts";

/** An owned partition, as the lag meter uses it. */
export interface Lagging extends TopicPartition {
  readonly isLocating: boolean;
  readonly committableOffset: number;
  readonly endOffset: number;
  readonly oldestUnfinishedMs: number | null;
  readonly window: { readonly records: number; readonly bytes: number };
  noteEnd(end: number): void;
  /** Tells the partition whether it has a leader to fetch from. */
  noteLeader(isLed: boolean): void;
}

export interface LagMeterOptions {
  readonly connection: KafkaConnection;
  readonly owned: () => readonly Lagging[];
  readonly clock: Clock;
  readonly groupId: string;
  /** All topics of the group. */
  readonly topics: readonly string[];
  /** For how long the topic's records have waited for a schema, in ms. */
  readonly schemaWaitMs: (topic: string) => number;
  /** For retry topics: how many ms a topic's records wait before they are due. */
  readonly delayMsOf?: ((topic: string) => number) | undefined;
}

export class LagMeter {
  readonly #options: LagMeterOptions;
  #isAsking = false;

  constructor(options: LagMeterOptions) {
    this.#options = options;
  }

  /** Sets the series of the owned partitions. */
  publish(): void {
    const { connection, owned, clock, groupId, topics, schemaWaitMs, delayMsOf } = this.#options;
    const { metrics } = connection;
    if (metrics === undefined) return;
    const waiting = new Map<string, number>();
    metrics.partitionsOwned.set({ group: groupId }, owned().length);
    for (const topic of topics) metrics.schemaWaitSeconds.set({ topic }, schemaWaitMs(topic) / 1000);
    for (const each of owned()) {
      if (each.isLocating) continue;
      const labels = labelsOf(each);
      const records = each.endOffset - each.committableOffset;
      const oldestMs = each.oldestUnfinishedMs;
      metrics.consumerLagRecords.set(labels, records);
      const ageMs = oldestMs === null ? 0 : Math.max(0, clock.nowMs() - oldestMs);
      metrics.consumerLagSeconds.set(labels, ageMs / 1000);
      metrics.unfinishedRecords.set(labels, each.window.records);
      metrics.unfinishedBytes.set(labels, each.window.bytes);
      if (delayMsOf !== undefined) {
        metrics.retryOverdueSeconds.set(labels, Math.max(0, ageMs - delayMsOf(each.topic)) / 1000);
      }
      waiting.set(each.topic, (waiting.get(each.topic) ?? 0) + records);
    }
    if (delayMsOf === undefined) return;
    for (const [topic, records] of waiting) metrics.waitingRecords.set({ topic }, records);
  }

  /** Removes the series of partitions that are no longer owned. Call it when `owned` leaves them out. */
  forget(lost: readonly TopicPartition[]): void {
    const { metrics } = this.#options.connection;
    if (metrics === undefined) return;
    const topics = new Set(this.#options.owned().map(({ topic }) => topic));
    const { consumerLagRecords, consumerLagSeconds, unfinishedRecords, unfinishedBytes, retryOverdueSeconds } = metrics;
    const ofPartition = [
      consumerLagRecords,
      consumerLagSeconds,
      unfinishedRecords,
      unfinishedBytes,
      retryOverdueSeconds,
    ];
    for (const each of lost) {
      for (const gauge of ofPartition) gauge.remove(labelsOf(each));
      if (!topics.has(each.topic)) metrics.waitingRecords.remove({ topic: each.topic });
    }
  }

  /** Asks the brokers once for the end offsets of the group's topics, and tells the partitions. Never rejects. */
  async readEnds(): Promise<void> {
    const { connection, owned, topics, groupId } = this.#options;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const found = await ledEnds(connection, topics);
      const partitions = [...found.values()].reduce(
        (sum, { ends, leaderless }) => sum + ends.size + leaderless.length,
        0,
      );
      connection.metrics?.partitionsExpected.set({ group: groupId }, partitions);
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
