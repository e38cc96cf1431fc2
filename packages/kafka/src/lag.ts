/**
 * The lag of the owned partitions, as the public metrics say it: exact, and only while they are owned.
 *
 * Records: end offset minus committable offset. Seconds: now minus the append time of the lowest unfinished record, 0 when
 * none is known. A retry topic's records are also counted as waiting.
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaMetrics } from "./metrics.ts";
import type { TopicPartition } from "./rebalance.ts";

/** What is asked of an owned partition. */
export interface Lagging extends TopicPartition {
  readonly isLocating: boolean;
  readonly committableOffset: number;
  readonly endOffset: number;
  readonly oldestUnfinishedMs: number | null;
}

/** Sets the series of what is owned. `isRetryTopic` says whose records count as waiting. */
export function publishLag(
  metrics: KafkaMetrics,
  owned: readonly Lagging[],
  clock: Clock,
  isRetryTopic: (topic: string) => boolean,
): void {
  const waiting = new Map<string, number>();
  for (const each of owned) {
    if (each.isLocating) continue;
    const labels = labelsOf(each);
    const records = each.endOffset - each.committableOffset;
    const oldestMs = each.oldestUnfinishedMs;
    metrics.consumerLagRecords.set(labels, records);
    metrics.consumerLagSeconds.set(labels, oldestMs === null ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1000);
    if (isRetryTopic(each.topic)) waiting.set(each.topic, (waiting.get(each.topic) ?? 0) + records);
  }
  for (const [topic, records] of waiting) metrics.waitingRecords.set({ topic }, records);
}

/** The partition is owned no more. `lastOfTopic`: nothing of its topic is. */
export function forgetLag(metrics: KafkaMetrics, lost: TopicPartition, lastOfTopic: boolean): void {
  metrics.consumerLagRecords.remove(labelsOf(lost));
  metrics.consumerLagSeconds.remove(labelsOf(lost));
  if (lastOfTopic) metrics.waitingRecords.remove({ topic: lost.topic });
}

function labelsOf({ topic, partition }: TopicPartition): { topic: string; partition: string } {
  return { topic, partition: String(partition) };
}
