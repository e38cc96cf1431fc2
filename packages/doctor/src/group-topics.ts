/** The consumer groups of an installation, with the topics that each reads. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { type DescribedTopic, existingRetryTopics } from "@posthaste/kafka/topics/topic-admin";
import { type UnfinishedRange, unfinishedOfGroups } from "@posthaste/pipeline/unfinished-range";

interface GroupTopics {
  readonly groupId: string;
  readonly service: string;
  readonly topics: readonly string[];
}

export async function groupTopics(connection: KafkaConnection, names: TopicNames): Promise<readonly GroupTopics[]> {
  return [
    { groupId: names.routerGroup, service: "router", topics: [names.events] },
    { groupId: names.deliveryGroup, service: "delivery", topics: [names.deliveries] },
    { groupId: names.retryGroup, service: "delivery", topics: await existingRetryTopics(connection, names) },
  ];
}

export interface ReadGroup {
  readonly groupId: string;
  /** The service whose processes are its members. */
  readonly service: string;
  /** The partitions that its members are to own, as `topic/partition`. */
  readonly partitions: readonly string[];
}

/** `topics`: those of the catalogue that exist. */
export function toReadGroups(groups: readonly GroupTopics[], topics: readonly DescribedTopic[]): readonly ReadGroup[] {
  return groups.map(({ groupId, service, topics: read }) => ({
    groupId,
    service,
    partitions: topics.flatMap(({ name, partitions }) =>
      read.includes(name) ? Array.from({ length: partitions }, (_, partition) => `${name}/${partition}`) : [],
    ),
  }));
}

export interface CommittedRange extends UnfinishedRange {
  readonly groupId: string;
}

/** The ranges of all groups. */
export async function readCommitted(
  connection: KafkaConnection,
  groups: readonly GroupTopics[],
): Promise<readonly CommittedRange[]> {
  const ranges = await unfinishedOfGroups(connection, groups);
  return ranges.map((range) => ({
    ...range,
    groupId: groups.find(({ topics }) => topics.includes(range.topic))?.groupId ?? "",
  }));
}
