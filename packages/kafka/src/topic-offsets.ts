/** Where logs begin and end, by the brokers' word. */
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "./connect.ts";

export interface PartitionOffsets {
  readonly partition: number;
  /** Offset of the first record that is kept. */
  readonly start: number;
  /** Offset that the next record will get. */
  readonly end: number;
}

/** By partition, in order. Rejects with `topic_missing`. */
export async function topicOffsets(connection: KafkaConnection, topic: string): Promise<readonly PartitionOffsets[]> {
  const offsets = await connection.withAdmin((admin) => admin.fetchTopicOffsets(topic));
  return offsets
    .map(({ partition, low, high }) => ({ partition, start: Number(low), end: Number(high) }))
    .sort((a, b) => a.partition - b.partition);
}

/** The end of a topic of one partition. */
export async function endOffset(connection: KafkaConnection, topic: string): Promise<number> {
  const [only] = await topicOffsets(connection, topic);
  if (only === undefined) throw new PosthasteError("topic_missing", `${topic} has no partition`);
  return only.end;
}
