/**
 * Reads the last records of each partition of a topic, and those that come, until one of the readers fails for good.
 *
 * Owns: a reader of each partition.
 * EN1  A reader begins some records before the end, and one that falls behind begins there again: what is handed on is
 *      the newest, not all.
 * EN2  When one reader fails for good all end, and nothing more is handed on: where to begin again is not what any of
 *      them knows, since the topic may have been made anew.
 * EN3  A partition that has no leader, or that is added, is looked for again and read when it is there; the others are
 *      read meanwhile. While one has none, nothing is known of the topic as a whole.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { ledOffsets, type PartitionOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** Where reading begins. */
export interface BegunReading {
  /** Empty where the cluster has none. */
  readonly topicId: string;
  readonly partitions: readonly { readonly partition: number; readonly from: number; readonly end: number }[];
}

export interface EndReadersOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  /** What it is at when `signal` says so is the next reader's. */
  readonly onRecord: (record: IncomingRecord, signal: AbortSignal) => Promise<void>;
  /** The reading of some partitions begins, also when it begins again (EN1). */
  readonly onBegin?: (begun: BegunReading) => void;
  /** Everything below an offset was handed on. */
  readonly onRead?: (partition: number, next: number) => void;
  /** For tests; instead of `IDLE_LOOK_MS`. */
  readonly idleLookMs?: number;
}

/** Records of each partition before its end. */
const LAST_RECORDS = 1_000;
/** So far behind the end a reader begins again (EN1). */
const MAX_BEHIND = 5_000;
/** Before a reader begins again: a reader that cannot keep up costs no more than this lets it. */
const AGAIN_MS = 2_000;
/** Between two looks at the topic while a partition has no leader, or nobody answers; and while all are read (EN3). */
const LOOK_MS = 2_000;
const IDLE_LOOK_MS = 30_000;
/** Where the cluster has none. */
const NO_ID = "";
/** Of one answer of a broker. */
const MAX_BYTES = 1_000_000;

/** The end of a partition when its reading began. */
interface FirstEnd {
  readonly end: number;
  /** When it was asked for. */
  readonly askedAtMs: number;
  readonly reached: () => void;
}

export class EndReaders {
  readonly #options: EndReadersOptions;
  readonly #ending = new AbortController();
  readonly #following = new Map<number, Promise<void>>();
  /** By partition: when the brokers were asked for its end, the last time that the reading stood there. */
  readonly #readToEndMs = new Map<number, number>();
  /** Null before the first look. */
  #topicId: string | null = null;
  #isWhole = false;

  constructor(options: EndReadersOptions) {
    this.#options = options;
  }

  /** At this moment everything that stood in the topic was read, or passed over (EN1); null where that is not known. */
  get asOfMs(): number | null {
    if (!this.#isWhole) return null;
    const moments = Array.from(this.#following.keys(), (partition) => this.#readToEndMs.get(partition) ?? null);
    return moments.reduce((oldest, each) => (oldest === null || each === null ? null : Math.min(oldest, each)));
  }

  /** Until a reader fails, or `signal` says so. `onAtEnd`: all that is read is at the end that it had at first. */
  async read(signal: AbortSignal, onAtEnd: () => void): Promise<void> {
    const end = () => this.#ending.abort();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    const { idleLookMs = IDLE_LOOK_MS } = this.#options;
    while (!this.#isEnded) {
      const isAnswered = await this.#look(onAtEnd);
      const pauseMs = isAnswered && this.#isWhole ? idleLookMs : LOOK_MS;
      await delay(pauseMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    }
    signal.removeEventListener("abort", end);
    await Promise.all(this.#following.values());
  }

  get #isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** EN3. Answers whether the brokers did. */
  async #look(onAtEnd: () => void): Promise<boolean> {
    const { connection, topic } = this.#options;
    const { signal } = this.#ending;
    try {
      // The id first: readers of a topic that is made anew meanwhile fail, and all begin again.
      this.#topicId ??= (await readTopicIds(connection, [topic], { signal })).get(topic) ?? NO_ID;
      const askedAtMs = Date.now();
      const { offsets, leaderless } = await ledOffsets(connection, topic);
      if (this.#isEnded) return false;
      const added = offsets.filter(({ partition }) => !this.#following.has(partition));
      if (added.length > 0) this.#begin(added, askedAtMs, onAtEnd);
      this.#isWhole = offsets.length > 0 && leaderless.length === 0;
      return true;
    } catch (error) {
      if (!this.#isEnded) connection.log.warn({ event: "topic_end_not_read", topic, err: error });
      return false;
    }
  }

  #begin(added: readonly PartitionOffsets[], askedAtMs: number, onAtEnd: () => void): void {
    this.#say(added);
    const ends = added.map(({ partition, start, end }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const first = { end, askedAtMs, reached: resolve };
      if (start >= end) this.#wasAtEnd(partition, first);
      this.#following.set(partition, this.#follow(partition, first));
      return promise;
    });
    Promise.all(ends).then(onAtEnd, () => undefined);
  }

  #say(begun: readonly Omit<PartitionOffsets, "start">[]): void {
    const partitions = begun.map(({ partition, end }) => ({ partition, from: firstOf(end), end }));
    this.#options.onBegin?.({ topicId: this.#topicId ?? NO_ID, partitions });
  }

  #wasAtEnd(partition: number, { askedAtMs, reached }: FirstEnd): void {
    if (!this.#readToEndMs.has(partition)) this.#readToEndMs.set(partition, askedAtMs);
    reached();
  }

  /** Follows a partition until all end. */
  async #follow(partition: number, first: FirstEnd): Promise<void> {
    const { signal } = this.#ending;
    let { end } = first;
    for (;;) {
      const endThen = await this.#readFrom(partition, firstOf(end), first);
      if (endThen === null) this.#ending.abort();
      else end = endThen;
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
      if (this.#isEnded) return;
      this.#say([{ partition, end }]);
    }
  }

  /** Resolves with the partition's end when the reader is too far behind it; with null when it failed, or all end. */
  async #readFrom(partition: number, from: number, first: FirstEnd): Promise<number | null> {
    const { connection, topic, onRecord, onRead } = this.#options;
    const over = Promise.withResolvers<number | null>();
    const enough = new AbortController();
    // At once: what a reader is at that has ended is nobody's.
    const end = (endThen: number | null) => {
      enough.abort();
      over.resolve(endThen);
    };
    const endWithAll = () => end(null);
    const { signal } = this.#ending;
    signal.addEventListener("abort", endWithAll);
    const failed = (error: unknown) => {
      if (!enough.signal.aborted) connection.log.warn({ event: "topic_end_not_read", topic, partition, err: error });
      end(null);
    };
    const reading = followLog(connection, {
      ...{
        topic,
        topicId: this.#topicId === NO_ID ? null : this.#topicId,
        partition,
        from,
        maxBytes: MAX_BYTES,
        signal: enough.signal,
      },
      onRecords: async (records) => {
        for (const record of records) {
          // What was fetched before is the next reader's.
          if (enough.signal.aborted) return;
          await onRecord(record, enough.signal);
        }
      },
      onFetched: ({ position, end: endThen, askedAt }) => {
        if (enough.signal.aborted) return;
        onRead?.(partition, position);
        if (position >= first.end) this.#wasAtEnd(partition, first);
        if (position >= endThen) this.#readToEndMs.set(partition, askedAt.wallMs);
        if (endThen - position > MAX_BEHIND) end(endThen);
      },
      onFailure: failed,
    });
    reading.catch(failed);
    const endThen = await over.promise;
    signal.removeEventListener("abort", endWithAll);
    await reading.catch(() => undefined);
    return endThen;
  }
}

function firstOf(end: number): number {
  return Math.max(0, end - LAST_RECORDS);
}
