/**
 * What a produce answer says of each partition (rule P3). A partition that it does not name is unacknowledged: a broker
 * that stops cleanly may leave some out, and so does kafkajs after a leader moved.
 */
import type { PartitionAnswer } from "../kafkajs/kafkajs-internals.ts";

/** Kafka's code for a partition, 0 for none; undefined for a partition that the answer does not name. */
export type CodeOf = (topic: string, partition: number) => number | undefined;

export function codesIn(answers: readonly PartitionAnswer[]): CodeOf {
  const codes = new Map<string, Map<number, number>>();
  for (const { topicName, partition, errorCode } of answers) {
    let ofTopic = codes.get(topicName);
    if (ofTopic === undefined) {
      ofTopic = new Map();
      codes.set(topicName, ofTopic);
    }
    // Two answers for a partition, one of them bad: nobody knows which of its records are written.
    ofTopic.set(partition, ofTopic.get(partition) || errorCode);
  }
  return (topic, partition) => codes.get(topic)?.get(partition);
}
