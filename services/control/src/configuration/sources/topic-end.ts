/**
 * Follows the end of a topic: the last records of each partition, and the new ones as they come.
 *
 * Owns: the readers of its partitions (topic-readers.ts), which begin again when one of them failed.
 * EN1  A reader begins `LAST_RECORDS` before the end, and a reader that falls more than `MAX_BEHIND` records behind
 *      begins there again: the readers hand on the newest records, not all.
 * EN2  When one reader fails for good, all end and hand on nothing more: somebody may have made the topic anew, so no
 *      reader knows where to begin again.
 * EN3  A partition that has no leader, or that is added to the topic, is looked for again and read once it is there;
 *      the readers of the others go on meanwhile. While a partition has no leader, `asOfMs` is null for the whole
 *      topic.
 * EN4  After readers that failed before they reached the end, the pause before the next ones doubles, up to a minute,
 *      so that a lasting fault, such as a registry without the schema, is met once a minute. After readers that had
 *      reached the end, the pause is short again.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { TopicReaders } from "@posthaste/kafka/log/topic-readers";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** The offsets at which the reading of some partitions begins. */
export interface BegunReading {
  /** The topic's id; empty where the cluster has no topic ids. */
  readonly topicId: string;
  readonly partitions: readonly { readonly partition: number; readonly from: number; readonly end: number }[];
}

export interface TopicEndOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  /**
   * Called for each record. When `signal` is aborted, the reader has ended: another one hands on the same record again.
   */
  readonly onRecord: (record: IncomingRecord, signal: AbortSignal) => Promise<void>;
  /** Called when the reading of some partitions begins, and when it begins again (EN1). */
  readonly onBegin?: (begun: BegunReading) => void;
  /** Called when the reader of a partition has handed on every record below `next`. */
  readonly onRead?: (partition: number, next: number) => void;
  /** For tests; instead of that of `TopicReadersOptions`. */
  readonly idleLookMs?: number;
  /** For tests; instead of `againMs`. */
  readonly pauseMs?: (failures: number) => number;
}

/** How many records before the end of a partition its reader begins. */
const LAST_RECORDS = 1_000;
/** A reader that is more records than this behind the end begins again (EN1). */
const MAX_BEHIND = 5_000;
/** The ms before the readers begin again: `AGAIN_MS` at first, `LONGEST_MS` at the most (EN4). */
const AGAIN_MS = 2_000;
const LONGEST_MS = 60_000;
/** The most bytes of one fetch. */
const MAX_BYTES = 1_000_000;

export class TopicEnd {
  readonly #options: TopicEndOptions;
  readonly #closing = new AbortController();
  /** Resolves with true once the readers reached the end; with false when this was closed before. */
  readonly #atEnd = Promise.withResolvers<boolean>();
  readonly #running: Promise<void>;
  #readers: TopicReaders | null = null;

  constructor(options: TopicEndOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /**
   * Waits at most `patienceMs`, and until this is closed, for the readers to read every partition that has a leader up
   * to the end that it had when reading began. Resolves with true when they have.
   */
  async reached(patienceMs: number): Promise<boolean> {
    const enough = new AbortController();
    const tooLong = delay(patienceMs, false, { signal: enough.signal }).catch(() => false);
    try {
      return await Promise.race([this.#atEnd.promise, tooLong]);
    } finally {
      enough.abort();
    }
  }

  /**
   * Every record that stood in the topic at this moment has been read, or passed over (EN1); null where that is not
   * known.
   */
  get asOfMs(): number | null {
    return this.#readers?.asOfMs ?? null;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#atEnd.resolve(false);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { connection, topic, pauseMs = againMs } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        // The id is asked for first: where somebody makes the topic anew meanwhile, the readers fail.
        const topicId = (await readTopicIds(connection, [topic], { signal })).get(topic) ?? null;
        await this.#read(topicId, () => {
          failures = 0;
          this.#atEnd.resolve(true);
        });
      } catch (error) {
        failures = 0;
        if (!signal.aborted) connection.log.warn({ event: "topic_not_followed", topic, err: error });
      }
      await delay(pauseMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Reads until a reader fails for good (EN2) or this is closed. */
  async #read(topicId: string | null, onAtEnd: () => void): Promise<void> {
    const { connection, topic, onRecord, onBegin, onRead, idleLookMs } = this.#options;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let begun: BegunReading["partitions"] = [];
    const readers = new TopicReaders(connection, {
      ...{ topic, topicId, maxBytes: MAX_BYTES, idleLookMs, message: "a source's newest calls are behind" },
      from: (at) => {
        const from = Math.max(0, at.end - LAST_RECORDS);
        begun = [...begun, { partition: at.partition, from, end: at.end }];
        return from;
      },
      onLooked: () => {
        if (begun.length > 0) onBegin?.({ topicId: topicId ?? "", partitions: begun });
        begun = [];
      },
      onRecords: async (_, records, signal) => {
        for (const record of records) {
          // The next reader hands on the rest of this fetch.
          if (signal.aborted) return;
          await onRecord(record, signal);
        }
      },
      onFetched: (partition, { position, end: endThen }) => {
        onRead?.(partition, position);
        if (endThen - position > MAX_BEHIND) readers.restart(partition);
      },
      onFailure: (_, partition) => {
        if (partition !== null) end();
      },
    });
    this.#readers = readers;
    readers.caughtUp.then(onAtEnd, () => undefined);
    const { signal } = this.#closing;
    signal.addEventListener("abort", () => end(), { once: true });
    if (!signal.aborted) await ended;
    readers.close();
  }
}

/** EN4: the pause in ms after `failures` attempts in a row that failed before they reached the end. */
export function againMs(failures: number): number {
  return Math.min(LONGEST_MS, AGAIN_MS * 2 ** Math.max(0, failures - 1));
}
