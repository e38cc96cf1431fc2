/** Finds the topics with unfinished records that have used half of their retention, after which they are deleted. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { existingRetryTopics, readTopics } from "@posthaste/kafka/topics/topic-admin";
import { type UnfinishedRange, unfinishedBelow, unfinishedOfGroups } from "@posthaste/pipeline/unfinished-range";

export interface OldRecords {
  readonly topic: string;
  /** How many unfinished records are as old as half of the retention. */
  readonly records: number;
  readonly retentionMs: number;
}

/** Rejects where the brokers do not answer. `nowMs` is compared with the records' timestamps. */
export async function findOldRecords(
  connection: KafkaConnection,
  names: TopicNames,
  nowMs: number,
): Promise<readonly OldRecords[]> {
  const groups = [
    { groupId: names.routerGroup, topics: [names.events] },
    { groupId: names.deliveryGroup, topics: [names.deliveries] },
    { groupId: names.retryGroup, topics: await existingRetryTopics(connection, names) },
  ];
  const ranges = await unfinishedOfGroups(connection, groups);
  // The many topics that are empty are not asked about.
  const waiting = new Set(ranges.filter((each) => unfinishedBelow(each, each.end) > 0).map(({ topic }) => topic));
  const topics = await readTopics(connection, [...waiting]);
  const found = await Promise.all(
    topics.map(async ({ name: topic, settings }) => {
      const retentionMs = Number(settings.get("retention.ms") ?? -1);
      const records = retentionMs > 0 ? await countFrom(connection, ranges, topic, nowMs - retentionMs / 2) : 0;
      return { topic, records, retentionMs };
    }),
  );
  return found.filter(({ records }) => records > 0);
}

/** Counts the unfinished records of a topic that are older than `atMs`. */
async function countFrom(
  connection: KafkaConnection,
  ranges: readonly UnfinishedRange[],
  topic: string,
  atMs: number,
): Promise<number> {
  const younger = await connection.withAdmin((admin) => admin.fetchTopicOffsetsByTimestamp(topic, Math.round(atMs)));
  const offsetOf = new Map(younger.map(({ partition, offset }) => [partition, Number(offset)]));
  return ranges
    .filter((range) => range.topic === topic)
    .reduce((sum, range) => sum + unfinishedBelow(range, offsetOf.get(range.partition) ?? range.start), 0);
}
