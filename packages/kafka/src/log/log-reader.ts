/**
 * Reads a partition from an offset on, without a consumer group: for tables, read models and looking back. A group
 * would make a table depend on a coordinator, wait for a JOIN, and read everything again after each rejoin.
 *
 * Owns: one kafkajs client at a time, and the position. The reader is
 * - *starting* until it knows its first position;
 * - *reading* from then on, by fetches of its own or in the shared fetch (LR6);
 * - *ended* for good by `close`, by the signal, or by a failure (LR3 to LR5, and an error of `onRecords`).
 * LR1  `onRecords` gets each record once, in offset order, one call at a time. The position rises when a call has
 *      ended.
 * LR2  A failure of the broker or the connection throws the client away, and never ends the reading. The reader goes on
 *      from its position with a new client, whose list of brokers begins one further on.
 * LR3  When retention moves the log's start above the position, the position moves up to it. A position above the log's
 *      end means that the topic was recreated: the reading fails with `offset_out_of_range`, since the records read
 *      belong to another log.
 * LR4  A broker may say that a topic does not exist while it is moved or was just made. So the reader asks again, and
 *      gives up when for `missingPatienceMs` every try ended with that answer.
 * LR5  Each client first asks for the topic's id. Another id than before means that the topic was recreated, wherever
 *      the position lies: the reading fails as in LR3.
 * LR6  While no record comes, the reader waits in a fetch that it shares with all idle readers of the broker
 *      (shared-fetch.ts). The shared fetch reports from time to time that nothing came, and a record is read as soon as
 *      without it.
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
  /** The first offset to read; the log's start when that lies above it. */
  readonly from: number | "start" | "end";
  /** Gets records in offset order, one call at a time. Reading goes on when the call has ended. */
  readonly onRecords: (records: readonly IncomingRecord[]) => Promise<void> | void;
  /**
   * Kafka's id of the topic to read (LR5). Without it, or with null, the reader keeps to the first id that it finds.
   */
  readonly topicId?: string | null;
  /** Called when a fetch was answered, and again when `onRecords` has taken its records. */
  readonly onFetched?: (at: FetchedTo) => void;
  /** How long a broker may hold a fetch for which it has no record, in ms. Default `MAX_WAIT_MS`. */
  readonly maxWaitMs?: number;
  /** The reading has ended for good: `onRecords` failed, or the topic was removed or recreated. */
  readonly onFailure: (reason: Error) => void;
  /** How long to ask again for a missing topic or partition, in ms (LR4). Default `ADMIN_PATIENCE_MS`. */
  readonly missingPatienceMs?: number;
  /**
   * Bytes of one answer, at most `MAX_BYTES`, which is the default. A process that reads many partitions at once sets
   * less, since all their answers together would be too much.
   */
  readonly maxBytes?: number;
  /** Closes the reader. When it has not begun to read yet, `followLog` rejects with `closed`. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock | undefined;
}

/** How far a fetch brought the reading. */
export interface FetchedTo {
  /** The reader's position. */
  readonly position: number;
  /** The log's end, as it was at `askedAt` or later. */
  readonly end: number;
  /** When the fetch was sent. */
  readonly askedAt: Moment;
}

export interface LogReader {
  /** The next offset to read. `onRecords` has taken everything below it. */
  readonly position: number;
  /**
   * Resolves when `position` is at `offset` or above. Rejects with `closed`, with the reason for which the reading
   * failed, or with `deadline_exceeded` after `timeoutMs`. Without `timeoutMs` it waits for ever.
   */
  reached(offset: number, timeoutMs?: number): Promise<void>;
  /** Stops at once, without waiting for a call of `onRecords` that has not ended. */
  close(): Promise<void>;
}

/** In ms. A new record answers a waiting fetch at once, so this only sets how often an idle reader asks. */
const MAX_WAIT_MS = 2000;
const REQUEST_TIMEOUT_MS = 5000;
const CONNECT_DEADLINE_MS = 5000;
/** The reader logs this many failures in a row: a cut connection, which it opens again at once, is not worth a line. */
const LOGGED_FAILURES = 3;
/** More bytes than a batch of this project's producers, so that an answer always holds a whole batch. */
const MAX_BYTES = 4_000_000;

/**
 * Follows one partition until the reader is closed, and waits for failed brokers. Rejects with `topic_missing` after
 * the patience of LR4.
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
  /** The reader's share of the fetch for all idle readers of its client's broker (LR6). */
  #share: FetchShare | null = null;
  #clientsMade = 0;
  /** Since when every try has ended with the answer that the topic is missing (LR4); null after any other outcome. */
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

  /** Closes the reader with the signal. A signal may outlive many readers, so a closed reader is removed from it. */
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
      // The reader was closed. If it had begun to read, `started` is resolved, and those who wait on `reached` know
      // already.
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

  /** Reads until the reader is closed (LR2). Rejects when the reading cannot go on. */
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
          if (failures >= LOGGED_FAILURES) this.#say("info", "log_reader_recovered", {});
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
        if (failures === LOGGED_FAILURES) this.#say("warn", "log_reader_failed", { reason: describe(error) });
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
      brokers: rotate(this.#connection.brokers, this.#clientsMade),
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    this.#client = client;
    this.#clientsMade += 1;
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

  /** Waits in the shared fetch while it covers this reader (LR6). Resolves when the reader must fetch by itself. */
  async #waitIdly(nodeId: string): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { topic, partition, maxWaitMs = MAX_WAIT_MS, onFetched, clock = SYSTEM_CLOCK } = this.#options;
    const onIdle = (askedAt: Moment) => onFetched?.({ position: this.#position, end: this.#position, askedAt });
    this.#share ??= shareFetch(this.#connection, { nodeId, maxWaitMs }, { topic, partition, onIdle, clock });
    this.#share.park(this.#position);
    await this.#share.wait();
  }

  /** Fetches once. True when the log ends at the position, so that there was nothing to read. */
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

  /** Moves the position to the log's start, or fails when it lies above the log's end (LR3). */
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

/**
 * An error of `onRecords` is a bug that ends the reading. The new error keeps it from passing as a broker's failure.
 */
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
