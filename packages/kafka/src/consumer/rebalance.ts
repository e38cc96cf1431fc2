/** The effect of a JOIN: the partitions that are kept, lost or gained (C5), and the beginning of each gained one. */
import { behindAcceptedLosses } from "@posthaste/contracts/accepted-loss";
import { PosthasteError } from "@posthaste/core/errors";
import {
  type CommitMetadata,
  decodeCommitMetadata,
  encodeCommitMetadata,
} from "@posthaste/core/window/commit-metadata";
import type { KafkaConnection } from "../connection/connect.ts";
import type { TopicIds } from "../connection/topic-id.ts";
import { ledOffsets } from "../connection/topic-offsets.ts";
import type { CommittedPlace, GroupSession } from "./group-session.ts";
import type { WindowedConsumerOptions } from "./windowed-consumer.ts";

/** The name of a partition. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export function isSamePartition(one: TopicPartition, other: TopicPartition): boolean {
  return one.topic === other.topic && one.partition === other.partition;
}

/** A partition of the topic with this id, and of no other topic that had the same name. */
export interface OwnedPartition extends TopicPartition {
  /** Undefined where the cluster gives topics no ids. */
  readonly topicId?: string | undefined;
}

/** The partitions that a JOIN assigned, by topic. */
export type Assigned = Readonly<Record<string, readonly number[]>>;

export interface AssignmentChange<P extends TopicPartition> {
  readonly kept: readonly P[];
  readonly lost: readonly P[];
  readonly gained: readonly TopicPartition[];
}

/**
 * Compares the owned partitions with those that a JOIN assigned. `continuous` is true when no other member can have
 * owned any of them in between. Otherwise no partition is kept: another member may have worked on it.
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

/** The offset at which a partition begins, and the metadata of the commit that says so. */
export interface StartingPlace extends TopicPartition {
  readonly offset: number;
  readonly metadata: string | null;
}

/** The terms, beside its commit, that decide the offset at which a partition begins. */
export interface StartingTerms extends Pick<WindowedConsumerOptions<never>, "outOfRangeAdvice" | "acceptedLosses"> {
  readonly topicIds: TopicIds;
}

/**
 * Reads where gained partitions begin: at the committed offset, or at the log's start where the group never committed
 * to this log (C7). The answer leaves out partitions without a leader, whose offsets no broker can tell; the others
 * need not wait for them. Rejects with an `offset_out_of_range` that names the partition when a committed offset lies
 * outside the log: to begin elsewhere would silently skip records or repeat a whole topic. Where an operator accepted
 * the loss of all records from the committed offset to the log's start, the partition begins there.
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
  { topicIds, outOfRangeAdvice, acceptedLosses = [] }: StartingTerms,
): StartingPlace {
  const topicId = topicIds.get(topic) ?? null;
  if (offset < 0 || isOfAnotherLog(offset, metadata, topicId))
    return { topic, partition, offset: start, metadata: null };
  if (offset >= start && offset <= end) return { topic, partition, offset, metadata };
  const isAccepted = behindAcceptedLosses(acceptedLosses, { topic, partition, topicId }, offset) >= start;
  if (offset < start && isAccepted) return { topic, partition, ...behindLoss(start, offset, metadata) };
  const what = `the committed offset ${offset} of ${topic} partition ${partition} is outside the log, which goes from ${start} to ${end}`;
  throw outOfRange(what, outOfRangeAdvice);
}

/** The place at the log's start, with all that the commit of a lost offset says of the records that are left. */
function behindLoss(start: number, offset: number, metadata: string | null): Omit<StartingPlace, keyof TopicPartition> {
  const committed = decodeCommitMetadata(offset, metadata);
  const left = committed.finishedRuns.filter(({ to }) => to > start);
  const [first] = left;
  // A committed offset is unfinished: a run that the start lies in ends before it.
  const from = first !== undefined && first.from <= start ? first.to : start;
  const kept: CommitMetadata = { ...committed, finishedRuns: left.filter((run) => run.from > from) };
  return { offset: from, metadata: encodeCommitMetadata(from, kept) };
}

/** True when the commit was made to an earlier topic of the same name. */
function isOfAnotherLog(offset: number, metadata: string | null, topicId: string | null): boolean {
  const { topicId: committedTo } = decodeCommitMetadata(offset, metadata);
  return topicId !== null && committedTo !== null && committedTo !== topicId;
}

const ADVICE =
  "stop the group's processes, set its offset with kafka-consumer-groups.sh --reset-offsets, and start them";

/** The error `offset_out_of_range` with advice for the operator. */
export function outOfRange(what: string, advice: string = ADVICE): PosthasteError {
  return new PosthasteError("offset_out_of_range", `${what}; ${advice}`);
}
