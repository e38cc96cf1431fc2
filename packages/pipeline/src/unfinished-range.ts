/** The records of a topic that a group has not finished, told by the group's commits. */
import { decodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import type { OffsetRun } from "@posthaste/core/window/offset-tracker";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicIds, type TopicIds } from "@posthaste/kafka/connection/topic-id";
import { offsetsOfTopics } from "@posthaste/kafka/connection/topic-offsets";

export interface UnfinishedRange {
  readonly topic: string;
  readonly topicId: string | null;
  readonly partition: number;
  /** The committed offset, which is unfinished; the log's start where nothing is committed. */
  readonly start: number;
  /** The log's end. */
  readonly end: number;
  /** The runs of finished records above the committed offset (C1). */
  readonly finishedRuns: readonly OffsetRun[];
  /** The part below `start` that was deleted before the group had finished it; null where nothing was. */
  readonly deleted: DeletedPart | null;
}

export interface DeletedPart {
  /** The committed offset. */
  readonly from: number;
  /** How many offsets from there to the log's start were not finished. */
  readonly records: number;
}

export interface GroupTopics {
  readonly groupId: string;
  readonly topics: readonly string[];
}

/**
 * One range for each partition. Rejects with `topic_missing`, and as the connection does where the brokers do not
 * answer.
 */
export function unfinishedRanges(
  connection: KafkaConnection,
  { topic, groupId }: { readonly topic: string; readonly groupId: string },
): Promise<readonly UnfinishedRange[]> {
  return unfinishedOfGroups(connection, [{ groupId, topics: [topic] }]);
}

/**
 * The unfinished ranges of several groups, topic by topic in their order. It asks once for each group's commits, and
 * once each for the ids, the ends and the starts of all topics. A caller that asks again and again passes a `readIds`
 * of its own, which keeps its connection.
 */
export async function unfinishedOfGroups(
  connection: KafkaConnection,
  groups: readonly GroupTopics[],
  readIds: (topics: readonly string[]) => Promise<TopicIds> = (topics) => readTopicIds(connection, topics),
): Promise<readonly UnfinishedRange[]> {
  const topics = groups.flatMap((group) => group.topics);
  // The commits are asked for first: the range then holds some records that the group finishes meanwhile, and misses
  // none that come.
  const [topicIds, ...committed] = await Promise.all([
    readIds(topics),
    ...groups.map((group) => readCommits(connection, group)),
  ]);
  const commits = new Map(committed.flat());
  const offsets = await offsetsOfTopics(connection, topics);
  return topics.flatMap((topic) => {
    const topicId = topicIds.get(topic) ?? null;
    return (offsets.get(topic) ?? []).map(({ partition, start, end }) => {
      const where = { topic, topicId, partition, end };
      return { ...where, ...unfinishedFrom(start, commits.get(`${topic} ${partition}`), topicId) };
    });
  });
}

interface Commit {
  readonly offset: string;
  readonly metadata: string | null;
}

/** The commits, keyed by `topic partition`. */
async function readCommits(
  connection: KafkaConnection,
  { groupId, topics }: GroupTopics,
): Promise<readonly (readonly [string, Commit])[]> {
  if (topics.length === 0) return [];
  const found = await connection.withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [...topics] }));
  return found.flatMap(({ topic, partitions }) =>
    partitions.map((commit) => [`${topic} ${commit.partition}`, commit] as const),
  );
}

/** The unfinished part of a log that begins at `start`. The commit may belong to an earlier topic of that name. */
function unfinishedFrom(
  start: number,
  commit: Commit | undefined,
  topicId: string | null,
): Pick<UnfinishedRange, "start" | "finishedRuns" | "deleted"> {
  const base = Number(commit?.offset ?? -1);
  const { topicId: committedId, finishedRuns } = decodeCommitMetadata(base, commit?.metadata ?? null);
  const isOfAnother = committedId !== null && topicId !== null && committedId !== topicId;
  if (base < 0 || isOfAnother) return { start, finishedRuns: [], deleted: null };
  if (base >= start) return { start: base, finishedRuns, deleted: null };
  const records = unfinishedBelow({ start: base, finishedRuns }, start);
  return { start, finishedRuns: [], deleted: { from: base, records } };
}

export function isFinished({ finishedRuns }: UnfinishedRange, offset: number): boolean {
  return finishedRuns.some(({ from, to }) => offset >= from && offset < to);
}

/** The number of unfinished records from the range's start to below `offset`. */
export function unfinishedBelow(
  { start, finishedRuns }: Pick<UnfinishedRange, "start" | "finishedRuns">,
  offset: number,
): number {
  const finished = finishedRuns.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, offset) - from), 0);
  return Math.max(0, offset - start - finished);
}
