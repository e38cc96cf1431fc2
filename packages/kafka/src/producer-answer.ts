/**
 * What a produce answer acknowledges (rule P3).
 *
 * kafkajs keeps its answers by broker. After a leader moved between a failure and its retry, and while a broker stops
 * cleanly, it resolves without having sent some partitions at all: they are missing from the answer.
 */
import type { PartitionAnswer } from "./kafkajs-internals.ts";

/** True for each partition that the answer names with error 0; a partition that it does not name is unacknowledged. */
export function acknowledgedBy(answer: readonly PartitionAnswer[]): (topic: string, partition: number) => boolean {
  const acknowledged = new Map<string, Set<number>>();
  const failed: PartitionAnswer[] = [];
  for (const each of answer) {
    if (each.errorCode !== 0) {
      failed.push(each);
      continue;
    }
    const partitions = acknowledged.get(each.topicName);
    if (partitions) partitions.add(each.partition);
    else acknowledged.set(each.topicName, new Set([each.partition]));
  }
  // Two answers for a partition, one of them bad: nobody knows which of its records are written.
  for (const { topicName, partition } of failed) acknowledged.get(topicName)?.delete(partition);
  return (topic, partition) => acknowledged.get(topic)?.has(partition) ?? false;
}
