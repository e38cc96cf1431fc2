/**
 * The end of a topic: the last records of each partition, and those that come.
 *
 * Owns: a reader of each partition.
 * TN1  A reader begins some records before the end, and one that falls behind begins there again: what is handed on is
 *      the newest, not all.
 * TN2  A partition that cannot be read is begun again a little later; the others go on.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { ledOffsets, type PartitionOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

export interface TopicEndOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly onRecord: (record: IncomingRecord) => Promise<void>;
  /** The reading of a partition begins, also when it begins again (TN1). */
  readonly onBegin?: (partition: number, at: { readonly from: number; readonly end: number }) => void;
  /** Everything below an offset was handed on. */
  readonly onRead?: (partition: number, next: number) => void;
}

/** Records of each partition before its end. */
const LAST_RECORDS = 1_000;
/** So far behind the end a reader begins again (TN1). */
const MAX_BEHIND = 5_000;
/** Before a reader begins again: a reader that cannot keep up costs no more than this lets it. */
const AGAIN_MS = 2_000;
/** Of one answer of a broker. */
const MAX_BYTES = 1_000_000;

export class TopicEnd {
  readonly #options: TopicEndOptions;
  readonly #closing = new AbortController();
  /** Resolves when each partition was read to the end that it had at first. */
  readonly #atEnd: Promise<unknown>;
  #following: Promise<unknown> = Promise.resolve();
  /** By partition: when the brokers were asked for its end, the last time that the reading stood there. */
  readonly #readToEndMs = new Map<number, number>();
  #partitions: readonly number[] | null = null;

  constructor(options: TopicEndOptions) {
    this.#options = options;
    this.#atEnd = this.#begin();
    this.#atEnd.catch(() => undefined);
  }

  /** Whether every partition was read to the end that it had when reading began; waits so long for it, in ms. */
  async reached(patienceMs: number): Promise<boolean> {
    const enough = new AbortController();
    const tooLong = delay(patienceMs, false, { signal: enough.signal }).catch(() => false);
    try {
      return await Promise.race([this.#atEnd.then(() => true), tooLong]);
    } catch {
      return false;
    } finally {
      enough.abort();
    }
  }

  /** At this moment everything that stood in the topic was read, or passed over (TN1); null before the first time. */
  get asOfMs(): number | null {
    const moments = this.#partitions?.map((partition) => this.#readToEndMs.get(partition) ?? null) ?? [null];
    return moments.reduce((oldest, each) => (oldest === null || each === null ? null : Math.min(oldest, each)), 1e15);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  async #begin(): Promise<unknown> {
    const offsets = await this.#offsets();
    this.#partitions = offsets.map(({ partition }) => partition);
    const readers = offsets.map(({ partition, start, end }) => {
      const atEnd = Promise.withResolvers<void>();
      if (start >= end) atEnd.resolve();
      return { atEnd: atEnd.promise, following: this.#follow(partition, end, atEnd.resolve) };
    });
    this.#following = Promise.all(readers.map(({ following }) => following));
    return Promise.all(readers.map(({ atEnd }) => atEnd));
  }

  /** Of the partitions that have a leader; asked for until the brokers say. None once this is closed. */
  async #offsets(): Promise<readonly PartitionOffsets[]> {
    const { connection, topic } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        return (await ledOffsets(connection, topic)).offsets;
      } catch (error) {
        connection.log.warn({ event: "topic_end_not_read", topic, err: error });
        await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return [];
  }

  /** Follows a partition until this is closed. */
  async #follow(partition: number, firstEnd: number, atEnd: () => void): Promise<void> {
    const { signal } = this.#closing;
    let end = firstEnd;
    while (!signal.aborted) {
      end = (await this.#readFrom(partition, Math.max(0, end - LAST_RECORDS), { end, atEnd })) ?? end;
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves with the partition's end when the reader is too far behind it; with null when it failed or was closed. */
  async #readFrom(
    partition: number,
    from: number,
    { end, atEnd }: { readonly end: number; readonly atEnd: () => void },
  ): Promise<number | null> {
    const { connection, topic, onRecord, onBegin, onRead } = this.#options;
    const { signal } = this.#closing;
    onBegin?.(partition, { from, end });
    const over = Promise.withResolvers<number | null>();
    const enough = new AbortController();
    signal.addEventListener("abort", () => over.resolve(null), { signal: enough.signal });
    const failed = (error: unknown) => {
      if (!signal.aborted) connection.log.warn({ event: "topic_end_not_read", topic, partition, err: error });
      over.resolve(null);
    };
    const reading = followLog(connection, {
      ...{ topic, partition, from, maxBytes: MAX_BYTES, signal: enough.signal },
      onRecords: async (records) => {
        for (const record of records) {
          // What was fetched before is the next reader's.
          if (enough.signal.aborted) return;
          await onRecord(record);
        }
      },
      onFetched: ({ position, end: endThen, askedAt }) => {
        if (!enough.signal.aborted) onRead?.(partition, position);
        if (position >= endThen) this.#readToEndMs.set(partition, askedAt.wallMs);
        if (position >= end) atEnd();
        if (endThen - position > MAX_BEHIND) over.resolve(endThen);
      },
      onFailure: failed,
    });
    reading.catch(failed);
    try {
      return await over.promise;
    } finally {
      enough.abort();
      await reading.catch(() => undefined);
    }
  }
}
