/** Reads the brokers and the topics as they are now, once for all checks that ask at the same moment. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { type DescribedTopic, existingRetryTopics, readTopics } from "@posthaste/kafka/topics/topic-admin";
import { wantedTopics } from "./topic-check.ts";

export interface Cluster {
  readonly brokers: number;
  /** The topics of the catalogue that exist. */
  readonly topics: readonly DescribedTopic[];
}

/** `retryDelaysMs`: the delays of every retry schedule that a delivery process runs with. */
export function createClusterLook(
  connection: KafkaConnection,
  names: TopicNames,
  retryDelaysMs: () => readonly number[],
): () => Promise<Cluster> {
  let out: Promise<Cluster> | null = null;
  const look = async (): Promise<Cluster> => {
    const wanted = wantedTopics({ names, retryDelaysMs: retryDelaysMs(), topics: [], reported: {} });
    const [{ brokers }, topics] = await Promise.all([
      connection.withAdmin((admin) => admin.describeCluster()),
      readTopics(
        connection,
        wanted.map(({ name }) => name),
      ),
    ]);
    return { brokers: brokers.length, topics };
  };
  // The checks of one round ask at the same moment and share one answer.
  return () => {
    out ??= look().finally(() => {
      out = null;
    });
    return out;
  };
}

/** Retry topics with records that the brokers wrote at this moment or later, by their own clocks. */
export async function retryTopicsFrom(
  connection: KafkaConnection,
  names: TopicNames,
  atMs: number,
): Promise<readonly string[]> {
  const topics = await existingRetryTopics(connection, names);
  const found = await Promise.all(
    topics.map(async (topic) => {
      const [ends, offsets] = await connection.withAdmin((admin) =>
        Promise.all([admin.fetchTopicOffsets(topic), admin.fetchTopicOffsetsByTimestamp(topic, atMs)]),
      );
      const endOf = new Map(ends.map(({ partition, high }) => [partition, Number(high)]));
      return offsets.some(({ partition, offset }) => Number(offset) < (endOf.get(partition) ?? 0));
    }),
  );
  return topics.filter((_, index) => found[index]);
}
