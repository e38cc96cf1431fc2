/**
 * Reads a partition from an offset on, without a consumer group: for tables, read models and looking back. A group
 * would tie a table to a coordinator, make it wait for a JOIN, and have everything read again after each rejoin.
 *
 * Owns: one kafkajs client at a time, and the position.
 * LR1  Records come to `onRecords` in offset order, each once, one call at a time. The position rises when a call is
 *      finished.
 * LR2  A failure of the broker or the connection throws the client away. The reader reads on from its position with a
 *      new client, whose list of brokers begins with another; such a failure never ends the reading, whatever was being
 *      asked.
 * LR3  A position below the log's start (retention) moves up to it. A position above the log's end means that the log
 *      was made anew: the reading fails with `offset_out_of_range`, since what was read is another log's.
 * LR4  A broker may say of a topic that it does not exist while the topic is moved or was just made. So the reader asks
 *      again, and believes it when nothing else was answered for `missingPatienceMs`.
 * LR5  Each client asks for the topic's id first. Another one than before says that the log was made anew, wherever the
 *      position lies: the reading fails as in LR3.
 * LR6  While nothing comes, the reader waits in a fetch that it shares with all idle readers of the broker
 *      (shared-fetch.ts), which says by and by that nothing came; a record is read as soon as without it.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs, withDeadline } from "../connection/deadline.ts";
import type { KafkaClient } from "../connection/kafka-client.ts";
import { describe, isOffsetOutOfRange, isTopicMissing, toPosthasteError } from "../connection/kafka-errors.ts";
import { rotate } from "../connection/seed-brokers.ts";
import { ADMIN_PATIENCE_MS } from "../connection/shared-admin.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import type { Broker, Cluster } from "../kafkajs/kafkajs-internals.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { readFetched } from "./fetched-records.ts";
import { type Moment, momentOf } from "./moment.ts";
import { findLeader, logOffset, type PartitionLeader } from "./partition-leader.ts";
import { SameTopic } from "./same-topic.ts";
import { type FetchShare, shareFetch } from "./shared-fetch.ts";

export interface LogReaderOptions {
  readonly topic: string;
  readonly partition: number;
  /** The first offset to read; the log's start when it lies below that. */
  readonly from: number | "start" | "end";
  /** Called with records in offset order, one call at a time; reading goes on when it is finished. */
  readonly onRecords: (records: readonly IncomingRecord[]) => Promise<void> | void;
  /** Kafka's id of the topic that is meant (LR5); the one that is found first when left out, or null. */
  readonly topicId?: string | null;
  /** Told when a fetch was answered, and again when its records were taken. */
  readonly onFetched?: (at: FetchedTo) => void;
  /** How long a broker may keep a fetch that it has nothing for, in ms; default `MAX_WAIT_MS`. */
  readonly maxWaitMs?: number;
  /** Reading has stopped for good: `onRecords` failed, or the topic was removed or made anew. */
  readonly onFailure: (reason: Error) => void;
  /** How long a missing topic or partition is asked for again (LR4). Default `ADMIN_PATIENCE_MS`. */
  readonly missingPatienceMs?: number;
  /**
   * Of one answer, where many partitions are read at once and all their answers would be too much; at most `MAX_BYTES`.
   */
  readonly maxBytes?: number;
  /** Closes the reader, also one that has not begun: then `followLog` rejects with `closed`. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock | undefined;
}

/** How far a fetch brought the reading. */
export interface FetchedTo {
  /** Where the reading stands. */
  readonly position: number;
  /** The log's end, as it was at `askedAt` or later. */
  readonly end: number;
  /** When the fetch was sent. */
  readonly askedAt: Moment;
}

export interface LogReader {
  /** The next offset to read: everything below has been through `onRecords`. */
  readonly position: number;
  /**
   * Resolves when `position` is at `offset` or above; rejects with `closed`, with what the reading failed with, or with
   * `deadline_exceeded` after `timeoutMs`, for ever by default.
   */
  reached(offset: number, timeoutMs?: number): Promise<void>;
  /** Stops at once; what `onRecords` is at is not waited for. */
  close(): Promise<void>;
}

/** A new record answers a waiting fetch at once, so this only sets how often an idle reader asks. */
const MAX_WAIT_MS = 2000;
const REQUEST_TIMEOUT_MS = 5000;
const CONNECT_DEADLINE_MS = 5000;
/** A cut connection is opened again at once; what fails so many times in a row is worth a log line. */
const SAID_FAILURES = 3;
/** More than a batch of this project's producers, so that an answer never holds a part of a batch alone. */
const MAX_BYTES = 4_000_000;

/**
 * Follows one partition until it is closed, waiting for a failed broker. Rejects with `topic_missing`, after the
 * patience of LR4.
 */
export async function followLog(connection: KafkaConnection, options: LogReaderOptions): Promise<LogReader> {
  const reader = new PartitionReader(connection, options);
  reader.closeBy(options.signal);
  await reader.start();
  return reader;
}

class PartitionReader implements LogReader {
  readonly #connection: KafkaConnection;
  readonly #options: LogReaderOptions;
  readonly #topic: SameTopic;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<{ readonly offset: number; resolve(): void; reject(reason: Error): void }>();
  #position = -1;
  #client: KafkaClient | null = null;
  /** Of the fetch for the idle readers of the client's broker (LR6). */
  #share: FetchShare | null = null;
  #made = 0;
  /** Since when every answer was that the topic is missing (LR4). */
  #missingSinceMs: number | null = null;
  #failure: Error | null = null;

  constructor(connection: KafkaConnection, options: LogReaderOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#topic = new SameTopic(options.topic, options.topicId ?? null);
  }

  get position(): number {
    return this.#position;
  }

  /** A signal may outlive many readers, and holds none that is closed. */
  closeBy(signal: AbortSignal | undefined): void {
    const close = () => void this.close();
    signal?.addEventListener("abort", close);
    this.#closing.signal.addEventListener("abort", () => signal?.removeEventListener("abort", close));
    if (signal?.aborted) close();
  }

  /** Resolves when the first position is known. */
  async start(): Promise<void> {
    const started = Promise.withResolvers<void>();
    this.#read(started.resolve).then(
      // It was closed; a reader that had begun has told so those who wait.
      () => started.reject(this.#failure),
      (error: unknown) => {
        const failure = toPosthasteError(error, `reading ${this.#options.topic}`);
        started.reject(failure);
        this.#end(failure);
        if (this.#position >= 0) this.#options.onFailure(failure);
      },
    );
    await started.promise;
  }

  reached(offset: number, timeoutMs?: number): Promise<void> {
    if (this.#position >= offset) return Promise.resolve();
    if (this.#failure) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { offset, resolve, reject };
    this.#waiting.add(waiter);
    if (timeoutMs === undefined) return promise;
    const what = `reading ${this.#options.topic} to offset ${offset}`;
    return withDeadline(promise, timeoutMs, what).finally(() => this.#waiting.delete(waiter));
  }

  async close(): Promise<void> {
    this.#end(new PosthasteError("closed", "the reader is closed"));
  }

  #end(reason: Error): void {
    this.#failure ??= reason;
    this.#closing.abort();
    this.#disconnect();
    for (const waiter of this.#waiting) waiter.reject(reason);
    this.#waiting.clear();
  }

  /** Reads until it is closed (LR2); rejects when it cannot go on. */
  async #read(onStarted: () => void): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    let isOutOfRange = false;
    while (!signal.aborted) {
      try {
        const { cluster, broker, nodeId } = await this.#connect();
        if (this.#position < 0) this.#position = await this.#firstPosition(cluster);
        onStarted();
        if (isOutOfRange) await this.#moveToStart(cluster);
        isOutOfRange = false;
        while (!signal.aborted) {
          const isIdle = await this.#fetch(broker);
          this.#missingSinceMs = null;
          if (failures >= SAID_FAILURES) this.#say("info", "log_reader_recovered", {});
          failures = 0;
          if (isIdle) await this.#waitIdly(nodeId);
          else this.#share?.part();
        }
      } catch (error) {
        this.#disconnect();
        if (signal.aborted) return;
        if (this.#isFinal(error)) throw error;
        isOutOfRange ||= isOffsetOutOfRange(error);
        failures += 1;
        if (failures === SAID_FAILURES) this.#say("warn", "log_reader_failed", { reason: describe(error) });
      }
      await pause(retryPauseMs(failures), signal);
    }
  }

  #isFinal(error: unknown): boolean {
    if (isTopicMissing(error) || isPosthasteError(error, "topic_missing")) {
      const nowMs = (this.#options.clock ?? SYSTEM_CLOCK).monotonicMs();
      this.#missingSinceMs ??= nowMs;
      return nowMs - this.#missingSinceMs >= (this.#options.missingPatienceMs ?? ADMIN_PATIENCE_MS);
    }
    this.#missingSinceMs = null;
    return isPosthasteError(error) && !error.retryable;
  }

  #disconnect(): void {
    this.#client?.destroy();
    this.#share?.leave();
    this.#share = null;
  }

  async #connect(): Promise<PartitionLeader> {
    const client = this.#connection.createClient({
      brokers: rotate(this.#connection.brokers, this.#made),
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    this.#client = client;
    this.#made += 1;
    const find = async () => {
      const leader = await findLeader(client.kafka, this.#options);
      await this.#topic.assert(leader.broker);
      return leader;
    };
    return await withDeadline(find(), CONNECT_DEADLINE_MS, "finding a partition's leader");
  }

  async #firstPosition(cluster: Cluster): Promise<number> {
    const { from } = this.#options;
    const start = await logOffset(cluster, this.#options, "start");
    if (typeof from === "number") return Math.max(from, start);
    return from === "start" ? start : await logOffset(cluster, this.#options, "end");
  }

  /** LR6: resolves at once while the reader has to fetch by itself. */
  async #waitIdly(nodeId: string): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { topic, partition, maxWaitMs = MAX_WAIT_MS, onFetched, clock = SYSTEM_CLOCK } = this.#options;
    const onIdle = (askedAt: Moment) => onFetched?.({ position: this.#position, end: this.#position, askedAt });
    this.#share ??= shareFetch(this.#connection, { nodeId, maxWaitMs }, { topic, partition, onIdle, clock });
    this.#share.park(this.#position);
    await this.#share.wait();
  }

  /** Answers whether the partition had nothing from the position on. */
  async #fetch(broker: Broker): Promise<boolean> {
    const { topic, partition, onRecords, onFetched, maxWaitMs = MAX_WAIT_MS, maxBytes = MAX_BYTES } = this.#options;
    const askedAt = momentOf(this.#options.clock ?? SYSTEM_CLOCK);
    const { responses } = await broker.fetch({
      maxWaitTime: maxWaitMs,
      minBytes: 1,
      maxBytes,
      isolationLevel: 0,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(this.#position), maxBytes }] }],
    });
    const fetched = responses[0]?.partitions[0];
    if (fetched === undefined || this.#closing.signal.aborted) return false;
    const { records, next } = readFetched(topic, fetched, this.#position);
    const end = Number(fetched.highWatermark);
    const isIdle = end === this.#position;
    onFetched?.({ position: this.#position, end, askedAt });
    if (records.length > 0) await callOnRecords(onRecords, records);
    this.#moveTo(next);
    onFetched?.({ position: next, end, askedAt });
    return isIdle;
  }

  #moveTo(position: number): void {
    this.#position = position;
    for (const waiter of this.#waiting) {
      if (waiter.offset > position) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  /** LR3. */
  async #moveToStart(cluster: Cluster): Promise<void> {
    const start = await logOffset(cluster, this.#options, "start");
    const end = await logOffset(cluster, this.#options, "end");
    if (this.#position > end) {
      const what = `${this.#options.topic} ends at ${end}, ${this.#position} was read`;
      throw new PosthasteError("offset_out_of_range", what);
    }
    this.#moveTo(Math.max(this.#position, start));
  }

  #say(level: "info" | "warn", event: string, fields: Record<string, unknown>): void {
    const { topic, partition } = this.#options;
    this.#connection.log[level]({ event, topic, partition, position: this.#position, ...fields });
  }
}

/** What the caller throws is a bug and ends the reading; it must not be taken for a broker's failure. */
async function callOnRecords(
  onRecords: LogReaderOptions["onRecords"],
  records: readonly IncomingRecord[],
): Promise<void> {
  try {
    await onRecords(records);
  } catch (error) {
    throw new PosthasteError("internal", "a record could not be taken", { cause: error });
  }
}
