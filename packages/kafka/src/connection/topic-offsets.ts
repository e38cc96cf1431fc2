/** Where the logs of partitions begin and end, as the brokers say. */
import { PosthasteError } from "@posthaste/core/errors";
import type { Admin } from "kafkajs";
import { type Cluster, errorOfCode } from "../kafkajs/kafkajs-internals.ts";
import type { KafkaConnection } from "./connect.ts";

/** Kafka's error code. */
const LEADER_NOT_AVAILABLE = 5;

export interface PartitionOffsets {
  readonly partition: number;
  /** Offset of the first record that the log still holds. */
  readonly start: number;
  /** Offset that the next record will get. */
  readonly end: number;
}

/** Offsets of a topic's partitions, in order of partition. */
export interface LedOffsets {
  readonly offsets: readonly PartitionOffsets[];
  /** Partitions without a leader: no broker can tell their offsets now. */
  readonly leaderless: readonly number[];
}

/** The offsets of all partitions that have a leader, and which partitions have none. Rejects with `topic_missing`. */
export function ledOffsets(connection: KafkaConnection, topic: string): Promise<LedOffsets> {
  return connection.withAdmin((admin) => askOffsets(admin, topic));
}

/**
 * The offsets of all partitions, in order. Rejects with `topic_missing`, or with `broker_unavailable` when a partition
 * has no leader until the patience of `withAdmin` ends.
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

/** End offsets of a topic's partitions that have a leader, and which partitions have none. */
export interface LedEnds {
  /** By partition. */
  readonly ends: ReadonlyMap<number, number>;
  readonly leaderless: readonly number[];
}

/**
 * The end offsets of several topics, by topic: one request for their metadata, and one to each broker that leads a
 * partition. Rejects with `topic_missing` when one of the topics does not exist.
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

/**
 * The result of `topicOffsets` for several topics, by topic. It asks each leading broker twice, where `ledEnds` asks
 * once.
 */
export function offsetsOfTopics(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<ReadonlyMap<string, readonly PartitionOffsets[]>> {
  return connection.withAdmin(async (_, cluster) => {
    const partitionsOf = await readPartitions(cluster, topics);
    // Both requests start at once: before a second one started, another question could replace kafkajs's metadata.
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

/**
 * All partitions of each topic, in order, as the brokers say now. The cluster object keeps the leaders for `askEdges`.
 */
async function readPartitions(
  cluster: Cluster,
  topics: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  // For an empty list kafkajs would ask for all topics of the cluster.
  if (topics.length === 0) return new Map();
  await cluster.addMultipleTargetTopics(topics);
  await cluster.refreshMetadata();
  return new Map(
    topics.map((topic) => {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
      // Another question of this cluster object, for other topics, replaced the metadata: `withAdmin` asks again.
      if (partitions.length === 0) throw errorOfCode(LEADER_NOT_AVAILABLE);
      return [topic, partitions.sort((a, b) => a - b)];
    }),
  );
}

/** Where the log of each partition that has a leader begins or ends, by topic and partition. */
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

/** The end offset of a topic that has one partition. */
export async function endOffset(connection: KafkaConnection, topic: string): Promise<number> {
  const [only] = await topicOffsets(connection, topic);
  if (only === undefined) throw new PosthasteError("topic_missing", `${topic} has no partition`);
  return only.end;
}
