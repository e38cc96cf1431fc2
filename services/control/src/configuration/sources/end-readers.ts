/**
 * Reads the last records of each partition of a topic, and the new ones as they come, until one of the readers fails
 * for good.
 *
 * Owns: a reader of each partition.
 * EN1  A reader begins `LAST_RECORDS` before the end, and a reader that falls more than `MAX_BEHIND` records behind
 *      begins there again: the readers hand on the newest records, not all.
 * EN2  When one reader fails for good, all end and hand on nothing more: somebody may have made the topic anew, so no
 *      reader knows where to begin again.
 * EN3  A partition that has no leader, or that is added to the topic, is looked for again and read once it is there;
 *      the readers of the others go on meanwhile. While a partition has no leader, `asOfMs` is null for the whole
 *      topic.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { ledOffsets, type PartitionOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** The offsets at which the reading of some partitions begins. */
export interface BegunReading {
  /** The topic's id; empty where the cluster has no topic ids. */
  readonly topicId: string;
  readonly partitions: readonly { readonly partition: number; readonly from: number; readonly end: number }[];
}

export interface EndReadersOptions {
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
  /** For tests; instead of `IDLE_LOOK_MS`. */
  readonly idleLookMs?: number;
}

/** How many records before the end of a partition its reader begins. */
const LAST_RECORDS = 1_000;
/** A reader that is more records than this behind the end begins again (EN1). */
const MAX_BEHIND = 5_000;
/** The ms before a reader begins again, which bound the cost of a reader that cannot keep up. */
const AGAIN_MS = 2_000;
/**
 * The ms between two looks at the topic: `LOOK_MS` while a partition has no leader or the brokers do not answer,
 * `IDLE_LOOK_MS` while every partition is read (EN3).
 */
const LOOK_MS = 2_000;
const IDLE_LOOK_MS = 30_000;
/** Stands for the topic's id where the cluster has no topic ids. */
const NO_ID = "";
/** The most bytes of one fetch. */
const MAX_BYTES = 1_000_000;

/** The end that a partition had when its reading began. */
interface FirstEnd {
  readonly end: number;
  /** When the brokers were asked for it, ms since the epoch. */
  readonly askedAtMs: number;
  readonly reached: () => void;
}

export class EndReaders {
  readonly #options: EndReadersOptions;
  readonly #ending = new AbortController();
  readonly #following = new Map<number, Promise<void>>();
  /**
   * For each partition, when the brokers were asked for its end, the last time that the reader had read up to it; ms
   * since the epoch.
   */
  readonly #readToEndMs = new Map<number, number>();
  /** The topic's id; null before the first look. */
  #topicId: string | null = null;
  #isWhole = false;

  constructor(options: EndReadersOptions) {
    this.#options = options;
  }

  /**
   * Every record that stood in the topic at this moment has been read, or passed over (EN1); null where that is not
   * known.
   */
  get asOfMs(): number | null {
    if (!this.#isWhole) return null;
    const moments = Array.from(this.#following.keys(), (partition) => this.#readToEndMs.get(partition) ?? null);
    return moments.reduce((oldest, each) => (oldest === null || each === null ? null : Math.min(oldest, each)));
  }

  /**
   * Reads until a reader fails for good or `signal` is aborted. Calls `onAtEnd` when every partition that it reads has
   * been read up to the end that the partition had at first.
   */
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

  /** EN3. Resolves with true where the brokers answered. */
  async #look(onAtEnd: () => void): Promise<boolean> {
    const { connection, topic } = this.#options;
    const { signal } = this.#ending;
    try {
      // The id is asked for first: where somebody makes the topic anew meanwhile, the readers fail, and all begin
      // again.
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

  /** Reads a partition until all readers end. */
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

  /**
   * Resolves with the partition's end when the reader is too far behind it; with null when the reader failed or all
   * readers end.
   */
  async #readFrom(partition: number, from: number, first: FirstEnd): Promise<number | null> {
    const { connection, topic, onRecord, onRead } = this.#options;
    const over = Promise.withResolvers<number | null>();
    const enough = new AbortController();
    // Aborted at once, so that a reader that has ended hands on nothing more.
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
          // The next reader hands on the rest of this fetch.
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
