/**
 * Sends records without losing any (rules P1 to P4 of docs/design.md).
 *
 * kafkajs's idempotent producer loses acknowledged records when an answer is lost: it rolls its sequence numbers back,
 * and the broker takes the next record for a duplicate. So this producer uses neither kafkajs's producer nor kafkajs's
 * retries. It sends again itself, and readers drop the repeats, by origin or by message id.
 *
 * Owns: the queues of unacknowledged records, and the sender that moves them. How it keeps the rules:
 * - P1: at most one batch of a partition is out; group commit gathers the rest. A partition that cannot be written
 *   stops no other: it pauses by itself, and the broker's other partitions go past it on another connection.
 * - P2: a rejection or a missed deadline throws away the connection to that broker. Its unanswered batches go again
 *   before anything else of their partitions. A partition whose answer is an error is sent again by itself.
 * - P3: a partition is unacknowledged unless the answer names it with error 0.
 * - P4: acknowledged means by all in-sync replicas (`acks` -1). The caller's promise tells when the brokers have
 *   acknowledged.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { Backpressure } from "../connection/backpressure.ts";
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { BatchSender } from "./batch-sender.ts";
import { brokerClientOf } from "./broker-client.ts";
import type { MakeBrokerClient } from "./channels.ts";
import { GroupCommitQueue } from "./group-commit.ts";
import { type PartitionLeaders, readPartitionLeaders } from "./partition-leaders.ts";
import type { PlacedRecord } from "./partition-queue.ts";
import { PendingBound } from "./pending-bound.ts";
import { MAX_BATCH_BYTES, type OutgoingRecord, RecordPlacer } from "./place-record.ts";

export type { OutgoingRecord } from "./place-record.ts";

export interface Producer {
  /**
   * Sends records in the order of the calls. Resolves when all in-sync replicas have acknowledged every record of the
   * call. While the producer is open it sends again for ever (P2). Rejects only with a PosthasteError: `invalid_input`
   * (a record that no broker would take, a topic that the producer was not made for, a partition that does not exist),
   * `closed`, or `broker_unavailable` when `patienceMs` says so.
   */
  send(records: readonly OutgoingRecord[], options?: SendOptions): Promise<void>;
  /**
   * The number of a topic's partitions, as far as is known; undefined for a topic that the producer was not made for.
   */
  partitionsOf(topic: string): number | undefined;
  /** Bytes of keys and values that are not acknowledged yet. */
  readonly pendingBytes: number;
  /** Ms since the oldest call with unacknowledged records; 0 when there is none. */
  readonly oldestPendingMs: number;
  /**
   * For how many ms every partition of the topic has taken nothing: the age of the youngest among the partitions'
   * oldest unacknowledged calls. 0 while a partition has no unacknowledged record.
   */
  stalledMs(topic: string): number;
  /** A backpressure that holds a consumer's intake back while `maxPendingBytes` or more are unacknowledged. */
  backpressure(maxPendingBytes: number): Backpressure;
  /**
   * Waits for acknowledgements, at most `flushMs` (default `CLOSE_FLUSH_MS`), rejects the other calls with `closed`,
   * and disconnects.
   */
  close(flushMs?: number): Promise<void>;
}

export interface SendOptions {
  /**
   * Rejects the call at once, and sends nothing of it, while a record of one of its partitions has waited for longer
   * than this.
   */
  readonly patienceMs?: number;
}

export interface ProducerOptions {
  /** The label `class` of the metrics: the purpose of the producer. */
  readonly name: string;
  /** Every topic that the producer may send to. */
  readonly topics: readonly string[];
  /** Default: the process's clock. */
  readonly clock?: Clock;
}

/** The most records that go out one by one when a broker refuses a batch because of one of them. */
const MAX_BATCH_RECORDS = 1000;
/** How long `close` waits for acknowledgements, in ms. */
export const CLOSE_FLUSH_MS = 5000;
/**
 * How long to wait at `close` after a consumer's drain, in ms: unacknowledged records then lose nothing, since the
 * records that they came from are read again.
 */
export const DRAINED_FLUSH_MS = 1000;
/** In ms: longer than the sender's longest deadline, so that kafkajs's own never ends a request. */
const REQUEST_TIMEOUT_MS = 120_000;

/**
 * Resolves when the partitions of `topics` are known. Waits for brokers. Rejects with `topic_missing` for a topic that
 * does not exist.
 */
export async function createProducer(connection: KafkaConnection, options: ProducerOptions): Promise<Producer> {
  const leaders = await readPartitionLeaders(connection, options.topics);
  const makeClient: MakeBrokerClient = ({ host, port }) =>
    brokerClientOf(connection.createClient({ requestTimeoutMs: REQUEST_TIMEOUT_MS }), host, port);
  return new GroupCommitProducer({ ...options, connection, makeClient, leaders });
}

export interface GroupCommitProducerOptions extends ProducerOptions {
  readonly connection: Pick<KafkaConnection, "log" | "metrics">;
  readonly makeClient: MakeBrokerClient;
  /** The producer closes them. */
  readonly leaders: PartitionLeaders;
}

/** The producer over any client; `createProducer` gives it kafkajs's. */
export class GroupCommitProducer implements Producer {
  readonly #options: GroupCommitProducerOptions;
  readonly #clock: Clock;
  readonly #queue = new GroupCommitQueue({ maxRecords: MAX_BATCH_RECORDS, maxBytes: MAX_BATCH_BYTES });
  readonly #placer: RecordPlacer;
  readonly #sender: BatchSender;
  readonly #bounds: PendingBound[] = [];
  #isClosed = false;
  /** Called when no record is unacknowledged; set while `close` flushes. */
  #onDrained: () => void = () => {};

  constructor(options: GroupCommitProducerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#placer = new RecordPlacer((topic) => this.partitionsOf(topic));
    this.#sender = new BatchSender({
      ...options,
      clock: this.#clock,
      queue: this.#queue,
      onExchanged: () => this.#onExchanged(),
    });
  }

  get pendingBytes(): number {
    return this.#queue.pendingBytes;
  }

  get oldestPendingMs(): number {
    return this.#msSince(this.#queue.oldestSinceMs);
  }

  stalledMs(topic: string): number {
    const count = this.partitionsOf(topic) ?? 0;
    let newestMs: number | null = null;
    for (let partition = 0; partition < count; partition += 1) {
      const oldestMs = this.#queue.oldestSinceMsOf(topic, partition);
      if (oldestMs === null) return 0;
      newestMs = newestMs === null ? oldestMs : Math.max(newestMs, oldestMs);
    }
    return this.#msSince(newestMs);
  }

  partitionsOf(topic: string): number | undefined {
    return this.#options.leaders.countOf(topic);
  }

  send(records: readonly OutgoingRecord[], { patienceMs }: SendOptions = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    const placed: PlacedRecord[] = [];
    for (const record of records) {
      const place = this.#placer.place(record);
      // When one record of a call cannot be sent, none of the call is.
      if (place instanceof PosthasteError) return Promise.reject(place);
      if (patienceMs !== undefined && this.#waitsLonger(place, patienceMs)) return Promise.reject(stuckError(place));
      placed.push(place);
    }
    const { readyCount } = this.#queue;
    const acknowledged = this.#queue.push(placed, this.#clock.monotonicMs());
    if (this.#queue.readyCount > readyCount) this.#sender.sendSoon();
    return acknowledged;
  }

  backpressure(maxPendingBytes: number): Backpressure {
    const bound = new PendingBound(maxPendingBytes, () => this.#queue.pendingBytes);
    this.#bounds.push(bound);
    return bound;
  }

  async close(flushMs = CLOSE_FLUSH_MS): Promise<void> {
    this.#isClosed = true;
    await this.#flush(flushMs);
    this.#options.leaders.close();
    this.#queue.rejectAll(closedError());
    await this.#sender.close();
  }

  async #flush(flushMs: number): Promise<void> {
    if (this.#queue.isEmpty) return;
    const drained = new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    await withDeadline(drained, flushMs, "flushing").catch(() => {
      const { connection, name } = this.#options;
      const { pendingBytes, oldestPendingMs } = this;
      const fields = { event: "producer_close_unflushed", producer: name, pendingBytes, oldestPendingMs };
      connection.log.error(fields, "records are given up");
    });
  }

  #onExchanged(): void {
    if (this.#queue.isEmpty) this.#onDrained();
    for (const bound of this.#bounds) bound.relieved();
  }

  #waitsLonger({ topic, partition }: PlacedRecord, patienceMs: number): boolean {
    return this.#msSince(this.#queue.oldestSinceMsOf(topic, partition)) > patienceMs;
  }

  #msSince(startedAtMs: number | null): number {
    return startedAtMs === null ? 0 : this.#clock.monotonicMs() - startedAtMs;
  }
}

function stuckError({ topic, partition }: PlacedRecord): PosthasteError {
  return new PosthasteError("broker_unavailable", `${topic} partition ${partition} cannot be written at the moment`, {
    retryable: true,
  });
}

function closedError(): PosthasteError {
  return new PosthasteError("closed", "the producer is closed");
}
