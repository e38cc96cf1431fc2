/** Where logs begin and end, by the brokers' word. */
import { PosthasteError } from "@posthaste/core/errors";
import type { Admin } from "kafkajs";
import { type Cluster, errorOfCode } from "../kafkajs/kafkajs-internals.ts";
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

/** Where the partitions of a topic end, of those that have a leader. */
export interface LedEnds {
  /** By partition. */
  readonly ends: ReadonlyMap<number, number>;
  readonly leaderless: readonly number[];
}

/**
 * The ends of several topics, by topic: one question about their partitions, and one to each broker that leads some.
 * Rejects with `topic_missing` when one of the topics does not exist.
 */
export function ledEnds(connection: KafkaConnection, topics: readonly string[]): Promise<ReadonlyMap<string, LedEnds>> {
  return connection.withAdmin(async (_, cluster) => {
    const partitionsOf = await readPartitions(cluster, topics);
    const ends = await askEdges(cluster, partitionsOf, "end");
    return new Map(
      [...partitionsOf].map(([topic, partitions]) => {
        const known = ends.get(topic) ?? new Map<number, number>();
        return [topic, { ends: known, leaderless: partitions.filter((partition) => !known.has(partition)) }];
      }),
    );
  });
}

/** What `topicOffsets` tells of one topic, of several, by topic: in one question more than `ledEnds` asks. */
export function offsetsOfTopics(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<ReadonlyMap<string, readonly PartitionOffsets[]>> {
  return connection.withAdmin(async (_, cluster) => {
    const partitionsOf = await readPartitions(cluster, topics);
    // Both at once: what kafkajs knows of leaders may be another question's when the first is answered.
    const [ends, starts] = await Promise.all([
      askEdges(cluster, partitionsOf, "end"),
      askEdges(cluster, partitionsOf, "start"),
    ]);
    return new Map(
      [...partitionsOf].map(([topic, partitions]) => {
        const offsets = partitions.map((partition) => {
          const [start, end] = [starts.get(topic)?.get(partition), ends.get(topic)?.get(partition)];
          if (start === undefined || end === undefined) throw errorOfCode(LEADER_NOT_AVAILABLE);
          return { partition, start, end };
        });
        return [topic, offsets];
      }),
    );
  });
}

/** All partitions of each topic, in order, as the brokers say now; what they say of leaders stays with the cluster. */
async function readPartitions(
  cluster: Cluster,
  topics: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  // kafkajs would ask for all topics of the cluster.
  if (topics.length === 0) return new Map();
  await cluster.addMultipleTargetTopics(topics);
  await cluster.refreshMetadata();
  return new Map(
    topics.map((topic) => {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
      // Another question of the same cluster, about other topics, was answered last: this one is asked again.
      if (partitions.length === 0) throw errorOfCode(LEADER_NOT_AVAILABLE);
      return [topic, partitions.sort((a, b) => a - b)];
    }),
  );
}

/** Where each partition begins or ends that has a leader, by topic and partition. */
async function askEdges(
  cluster: Cluster,
  partitionsOf: ReadonlyMap<string, readonly number[]>,
  edge: "start" | "end",
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const found = await cluster.fetchTopicsOffset(
    Array.from(partitionsOf, ([topic, partitions]) => ({
      topic,
      partitions: partitions.map((partition) => ({ partition })),
      fromBeginning: edge === "start",
    })),
  );
  return new Map(
    found.map(({ topic, partitions }) => [
      topic,
      new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)])),
    ]),
  );
}

/** The end of a topic of one partition. */
export async function endOffset(connection: KafkaConnection, topic: string): Promise<number> {
  const [only] = await topicOffsets(connection, topic);
  if (only === undefined) throw new PosthasteError("topic_missing", `${topic} has no partition`);
  return only.end;
}
