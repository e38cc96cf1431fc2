/**
 * The result of each partition in a produce answer (rule P3). A partition that the answer does not name is
 * unacknowledged: a broker that stops cleanly may leave some out, and so does kafkajs after a leader moved.
 */
import type { PartitionAnswer } from "../kafkajs/kafkajs-internals.ts";

/** Kafka's error code for a partition: 0 means no error, undefined that the answer does not name the partition. */
export type CodeOf = (topic: string, partition: number) => number | undefined;

export function codesIn(answers: readonly PartitionAnswer[]): CodeOf {
  const codes = new Map<string, Map<number, number>>();
  for (const { topicName, partition, errorCode } of answers) {
    let ofTopic = codes.get(topicName);
    if (ofTopic === undefined) {
      ofTopic = new Map();
      codes.set(topicName, ofTopic);
    }
    // When one of two answers for a partition is an error, nobody knows which of its records were written.
    ofTopic.set(partition, ofTopic.get(partition) || errorCode);
  }
  return (topic, partition) => codes.get(topic)?.get(partition);
}
