/**
 * What a JOIN changes: partitions are kept, lost or gained (C5), and where a gained one begins.
 */
import { PosthasteError } from "@posthaste/core/errors";
import { decodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import type { KafkaConnection } from "../connection/connect.ts";
import type { TopicIds } from "../connection/topic-id.ts";
import { ledOffsets } from "../connection/topic-offsets.ts";
import type { CommittedPlace, GroupSession } from "./group-session.ts";
import type { WindowedConsumerOptions } from "./windowed-consumer.ts";

/** A partition by its name. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export function isSamePartition(one: TopicPartition, other: TopicPartition): boolean {
  return one.topic === other.topic && one.partition === other.partition;
}

/** A partition of one topic of Kafka's, and of no other that had the topic's name. */
export interface OwnedPartition extends TopicPartition {
  /** Undefined where the cluster gives topics no ids. */
  readonly topicId?: string | undefined;
}

/** What a JOIN assigned: partitions by topic. */
export type Assigned = Readonly<Record<string, readonly number[]>>;

export interface AssignmentChange<P extends TopicPartition> {
  readonly kept: readonly P[];
  readonly lost: readonly P[];
  readonly gained: readonly TopicPartition[];
}

/**
 * Compares what was owned with what a JOIN assigned. `continuous` says that nobody else can have owned anything of it
 * in between; without that nothing is kept: a partition that came back may have been worked on elsewhere.
 */
export function compareAssignment<P extends TopicPartition>(
  owned: readonly P[],
  assigned: Assigned,
  continuous: boolean,
): AssignmentChange<P> {
  const isAssigned = ({ topic, partition }: TopicPartition) => assigned[topic]?.includes(partition) ?? false;
  const kept = continuous ? owned.filter(isAssigned) : [];
  const lost = owned.filter((each) => !kept.includes(each));
  const gained = Object.entries(assigned).flatMap(([topic, partitions]) =>
    partitions
      .map((partition) => ({ topic, partition }))
      .filter((place) => !kept.some((each) => isSamePartition(each, place))),
  );
  return { kept, lost, gained };
}

/** Where to begin a partition, and what its last commit said beside the offset. */
export interface StartingPlace extends TopicPartition {
  readonly offset: number;
  readonly metadata: string | null;
}

/** What decides where to begin, beside the commits. */
export interface StartingTerms extends Pick<WindowedConsumerOptions<never>, "outOfRangeAdvice"> {
  readonly topicIds: TopicIds;
}

/**
 * Reads where gained partitions begin: at the committed offset, or at the log's start where the group never committed
 * to this log (C7). The answer leaves out a partition without a leader: where it begins is known when it has a leader,
 * and the others need not wait for that. Rejects with `offset_out_of_range`, naming the partition, when a committed
 * offset lies outside the log: to go on elsewhere would skip records, or repeat a topic, in silence.
 */
export async function locatePartitions(
  connection: KafkaConnection,
  session: Pick<GroupSession, "committed">,
  gained: readonly TopicPartition[],
  terms: StartingTerms,
): Promise<readonly StartingPlace[]> {
  const committed = await session.committed(gained);
  const topics = [...new Set(gained.map(({ topic }) => topic))];
  const logs = new Map(
    await Promise.all(topics.map(async (topic) => [topic, await ledOffsets(connection, topic)] as const)),
  );
  return committed.flatMap((place) => {
    const log = logs.get(place.topic);
    const offsets = log?.offsets.find(({ partition }) => partition === place.partition);
    if (offsets !== undefined) return startingPlace(place, offsets, terms);
    if (log?.leaderless.includes(place.partition)) return [];
    throw new PosthasteError("topic_missing", `topic ${place.topic} has no partition ${place.partition}`);
  });
}

function startingPlace(
  { topic, partition, offset, metadata }: CommittedPlace,
  { start, end }: { readonly start: number; readonly end: number },
  { topicIds, outOfRangeAdvice }: StartingTerms,
): StartingPlace {
  if (offset < 0 || isOfAnotherLog(offset, metadata, topicIds.get(topic) ?? null))
    return { topic, partition, offset: start, metadata: null };
  if (offset >= start && offset <= end) return { topic, partition, offset, metadata };
  const what = `the committed offset ${offset} of ${topic} partition ${partition} is outside the log, which goes from ${start} to ${end}`;
  throw outOfRange(what, outOfRangeAdvice);
}

/** True when the commit was made to a topic that is gone: it says nothing of the topic that has the name now. */
function isOfAnotherLog(offset: number, metadata: string | null, topicId: string | null): boolean {
  const { topicId: committedTo } = decodeCommitMetadata(offset, metadata);
  return topicId !== null && committedTo !== null && committedTo !== topicId;
}

const ADVICE =
  "stop the group's processes, set its offset with kafka-consumer-groups.sh --reset-offsets, and start them";

/** `offset_out_of_range`, with what to do about it. */
export function outOfRange(what: string, advice: string = ADVICE): PosthasteError {
  return new PosthasteError("offset_out_of_range", `${what}; ${advice}`);
}
