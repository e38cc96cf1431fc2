/** A range of a partition's records, read without a group: for whoever counts, sends, exports or searches. */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { Handoff } from "./handoff.ts";

/** Records that are handed on at a time; others have their turn between two of them. */
const STEP = 200;
/** Of one answer of a broker: so much is held of each partition that is read. */
const MAX_BYTES = 1_000_000;

export interface RecordRange {
  readonly topic: string;
  readonly partition: number;
  /** The first offset. */
  readonly start: number;
  /** Behind the last offset. */
  readonly end: number;
  /** See `LogReaderOptions`. */
  readonly topicId?: string | null;
}

/**
 * The records of a range in order, some at a time, none of them empty. Ends at the range's end; fails when the topic
 * was removed or made anew, and with `closed` when the signal says so. What is not asked for any more is not read.
 */
export async function* readRange(
  connection: KafkaConnection,
  { topic, topicId = null, partition, start, end }: RecordRange,
  signal: AbortSignal,
): AsyncGenerator<readonly IncomingRecord[]> {
  if (end <= start) return;
  signal.throwIfAborted();
  const handoff = new Handoff<readonly IncomingRecord[]>();
  const reader = await followLog(connection, {
    ...{ topic, topicId, partition, from: start, maxBytes: MAX_BYTES, signal },
    onRecords: async (records) => {
      for (let from = 0; from < records.length; from += STEP) {
        const step = records.slice(from, from + STEP).filter(({ offset }) => offset < end);
        if (step.length > 0) await handoff.put(step);
      }
    },
    onFailure: (reason) => handoff.fail(reason),
  });
  reader.reached(end).then(
    () => handoff.end(),
    (reason: Error) => handoff.fail(reason),
  );
  try {
    yield* handoff.values();
  } finally {
    handoff.end();
    await reader.close();
  }
}
