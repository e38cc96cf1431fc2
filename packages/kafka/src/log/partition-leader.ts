/** Finds the broker that leads a partition, and where the partition's log begins and ends. */
import { PosthasteError } from "@posthaste/core/errors";
import type { Kafka } from "kafkajs";
import { type Broker, type Cluster, createCluster } from "../kafkajs/kafkajs-internals.ts";

/** The leading broker, and the cluster object that found it. */
export interface PartitionLeader {
  readonly cluster: Cluster;
  readonly broker: Broker;
  readonly nodeId: string;
}

interface Partition {
  readonly topic: string;
  readonly partition: number;
}

/**
 * Connects `kafka` to the partition's leader. Rejects with `topic_missing` when the topic or the partition does not
 * exist.
 */
export async function findLeader(kafka: Kafka, { topic, partition }: Partition): Promise<PartitionLeader> {
  const cluster = createCluster(kafka);
  await cluster.connect();
  await cluster.addTargetTopic(topic);
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
  if (nodeId === undefined) throw noLeader(cluster, { topic, partition });
  return { cluster, broker: await cluster.findBroker({ nodeId }), nodeId };
}

/** A missing leader is a failure that passes; a missing partition is not. */
function noLeader(cluster: Cluster, { topic, partition }: Partition): PosthasteError {
  const isThere = cluster.findTopicPartitionMetadata(topic).some(({ partitionId }) => partitionId === partition);
  return isThere
    ? new PosthasteError("broker_unavailable", `${topic} partition ${partition} has no leader`, { retryable: true })
    : new PosthasteError("topic_missing", `${topic} has no partition ${partition}`);
}

/** The offset at which the log starts or ends. */
export async function logOffset(
  cluster: Cluster,
  { topic, partition }: Partition,
  at: "start" | "end",
): Promise<number> {
  const fromBeginning = at === "start";
  const [answer] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]);
  const offset = answer?.partitions[0]?.offset;
  if (offset === undefined)
    throw new PosthasteError("broker_unavailable", "no offset in the answer", { retryable: true });
  return Number(offset);
}
