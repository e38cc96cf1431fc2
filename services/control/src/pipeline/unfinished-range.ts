/** What a group has not finished of a topic, by its commits: the records that its readers are still to come to. */
import { decodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import type { OffsetRun } from "@posthaste/core/window/offset-tracker";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicId } from "@posthaste/kafka/connection/topic-id";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";

export interface UnfinishedRange {
  readonly topic: string;
  readonly topicId: string | null;
  readonly partition: number;
  /** The committed offset, which is unfinished; the log's start where nothing is committed. */
  readonly start: number;
  /** The log's end. */
  readonly end: number;
  /** What is finished above the committed offset (C1). */
  readonly finishedRuns: readonly OffsetRun[];
}

/** By partition. Rejects with `topic_missing`, and as the connection does where brokers do not answer. */
export async function unfinishedRanges(
  connection: KafkaConnection,
  { topic, groupId }: { readonly topic: string; readonly groupId: string },
): Promise<readonly UnfinishedRange[]> {
  // The commits first: what is finished meanwhile is read for nothing, and nothing that comes is missed.
  const [groups, topicId] = await Promise.all([
    connection.withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [topic] })),
    readTopicId(connection, topic),
  ]);
  const commits = new Map(groups.flatMap(({ partitions }) => partitions.map((each) => [each.partition, each])));
  const ends = await topicOffsets(connection, topic);
  return ends.map(({ partition, start, end }) => {
    const commit = commits.get(partition);
    const base = Number(commit?.offset ?? -1);
    const { topicId: committedId, finishedRuns } = decodeCommitMetadata(base, commit?.metadata ?? null);
    const isOfAnother = committedId !== null && topicId !== null && committedId !== topicId;
    const where = { topic, topicId, partition, end };
    if (base < start || isOfAnother) return { ...where, start, finishedRuns: [] };
    return { ...where, start: base, finishedRuns };
  });
}

export function isFinished({ finishedRuns }: UnfinishedRange, offset: number): boolean {
  return finishedRuns.some(({ from, to }) => offset >= from && offset < to);
}

/** Records from the range's start to below `offset` that are not finished. */
export function unfinishedBelow({ start, finishedRuns }: UnfinishedRange, offset: number): number {
  const finished = finishedRuns.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, offset) - from), 0);
  return Math.max(0, offset - start - finished);
}
