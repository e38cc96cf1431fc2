/** Where logs begin and end, by the brokers' word. */
import { PosthasteError } from "@posthaste/core/errors";
import type { Admin } from "kafkajs";
import { errorOfCode } from "../kafkajs/kafkajs-internals.ts";
import type { KafkaConnection } from "./connect.ts";

/** Kafka's code. */
const LEADER_NOT_AVAILABLE = 5;

export interface PartitionOffsets {
  readonly partition: number;
  /** Offset of the first record that is kept. */
  readonly start: number;
  /** Offset that the next record will get. */
  readonly end: number;
}

/** By partition, in order. */
export interface LedOffsets {
  readonly offsets: readonly PartitionOffsets[];
  /** Partitions without a leader, whose offsets nobody can tell at the moment. */
  readonly leaderless: readonly number[];
}

/** Of all partitions that have a leader: one without hides no other. Rejects with `topic_missing`. */
export function ledOffsets(connection: KafkaConnection, topic: string): Promise<LedOffsets> {
  return connection.withAdmin((admin) => askOffsets(admin, topic));
}

/**
 * Of all partitions, in order. Rejects with `topic_missing`, or `broker_unavailable` when one has no leader for as long
 * as is asked.
 */
export function topicOffsets(connection: KafkaConnection, topic: string): Promise<readonly PartitionOffsets[]> {
  return connection.withAdmin(async (admin) => {
    const { offsets, leaderless } = await askOffsets(admin, topic);
    if (leaderless.length > 0) throw errorOfCode(LEADER_NOT_AVAILABLE);
    return offsets;
  });
}

async function askOffsets(admin: Admin, topic: string): Promise<LedOffsets> {
  const [found, { topics }] = [
    await admin.fetchTopicOffsets(topic),
    await admin.fetchTopicMetadata({ topics: [topic] }),
  ];
  const offsets = found
    .map(({ partition, low, high }) => ({ partition, start: Number(low), end: Number(high) }))
    .sort((a, b) => a.partition - b.partition);
  const known = new Set(offsets.map(({ partition }) => partition));
  const partitions = topics.flatMap((each) => each.partitions.map(({ partitionId }) => partitionId));
  return { offsets, leaderless: partitions.filter((partition) => !known.has(partition)) };
}

/** The end of a topic of one partition. */
export async function endOffset(connection: KafkaConnection, topic: string): Promise<number> {
  const [only] = await topicOffsets(connection, topic);
  if (only === undefined) throw new PosthasteError("topic_missing", `${topic} has no partition`);
  return only.end;
}
