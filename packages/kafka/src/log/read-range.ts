/** Reads a range of a partition's records without a consumer group, for counts, replays, exports and searches. */
import type { KafkaConnection } from "../connection/connect.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { followLog } from "./log-reader.ts";

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

/**
 * Hands values from one side to another, one at a time: the side that puts a value waits until the other asks for the
 * next.
 *
 * Owns: the value that waits, and the end.
 */
class Handoff<T> {
  #waiting: { readonly value: T; readonly taken: () => void } | null = null;
  #ended: { readonly reason: Error | null } | null = null;
  #wake: () => void = () => {};

  /** Resolves when the other side is done with the value, or this has ended. */
  put(value: T): Promise<void> {
    if (this.#ended !== null) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { value, taken: resolve };
    this.#wake();
    return promise;
  }

  /** Ends the values: none follows. */
  end(): void {
    this.#finish(null);
  }

  fail(reason: Error): void {
    this.#finish(reason);
  }

  /** The values as they are put, to the end; throws the reason of `fail`. */
  async *values(): AsyncGenerator<T> {
    for (;;) {
      if (this.#waiting !== null) {
        const { value, taken } = this.#waiting;
        yield value;
        this.#waiting = null;
        taken();
      } else if (this.#ended !== null) {
        if (this.#ended.reason !== null) throw this.#ended.reason;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #finish(reason: Error | null): void {
    this.#ended ??= { reason };
    this.#waiting?.taken();
    this.#wake();
  }
}
