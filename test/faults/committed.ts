/** The records that a group's commits call finished: the next owner of the partitions will not run them again. */
import { decodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import { withAdmin } from "@posthaste/testkit/broker";
import type { Place } from "../e2e/read-topic.ts";

export type IsFinished = (place: Place) => boolean;

/** Reads the committed offsets of the topic and the additions of their metadata (C1). */
export function readCommitted(brokers: readonly string[], groupId: string, topic: string): Promise<IsFinished> {
  return withAdmin(async (admin) => {
    const [fetched] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const marks = new Map(
      (fetched?.partitions ?? []).map(({ partition, offset, metadata }) => {
        const mark = Number(offset);
        return [partition, { mark, runs: decodeCommitMetadata(mark, metadata).finishedRuns }];
      }),
    );
    return ({ partition, offset }) => {
      const committed = marks.get(partition);
      if (committed === undefined) return false;
      return offset < committed.mark || committed.runs.some(({ from, to }) => offset >= from && offset < to);
    };
  }, brokers);
}
