/** Reads a range of a partition's records without a consumer group, for counts, replays, exports and searches. */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { Handoff } from "./handoff.ts";

/** The most records that a step hands on; others have their turn between two steps. */
const STEP = 200;
/** The most bytes of one fetch, and so about what is held of each partition that is read. */
const MAX_BYTES = 1_000_000;

export interface RecordRange {
  readonly topic: string;
  readonly partition: number;
  /** The offset of the first record. */
  readonly start: number;
  /** The offset after the last record. */
  readonly end: number;
  /** See `LogReaderOptions`. */
  readonly topicId?: string | null;
}

/**
 * The records of a range in order, in groups of which none is empty. Ends at the range's end. Fails when the topic was
 * removed or made anew; with the reason of `signal` where that is aborted before the reading begins, and with `closed`
 * where it is aborted later. It fetches no further than its caller asks.
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
