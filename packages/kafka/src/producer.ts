/**
 * Sending without losing (rules P1 to P4).
 *
 * kafkajs's idempotent producer loses acknowledged records when an answer is lost: it rolls its sequence numbers back and
 * the broker takes the next record for a duplicate. So it is not used, nor are kafkajs's retries: this wrapper does all
 * sending again, and what that repeats is dropped downstream, by origin or by message id.
 *
 * Owns: the queue of unacknowledged records, and one kafkajs client at a time.
 * P1  At most one `sendBatch` is outstanding; group commit gathers the rest.
 * P2  After a rejection or a missed deadline the client is replaced, and what is unacknowledged is sent again before anything else.
 * P3  A partition that the answer does not name with error 0 is unacknowledged.
 * P4  Acknowledged means: by all in-sync replicas (`acks` -1). What is unacknowledged is the caller's to know.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "./connect.ts";
import { pause, retryPauseMs, withDeadline } from "./deadline.ts";
import { isFailureLine } from "./failure-line.ts";
import { type Batch, GroupCommitQueue, type PlacedRecord } from "./group-commit.ts";
import { describe, isRefusedRecord } from "./kafka-errors.ts";
import { partitionOf } from "./murmur2.ts";
import { readPartitionCounts } from "./partition-counts.ts";
import { acknowledgedBy } from "./producer-answer.ts";
import { type MakeSendingClient, ReplaceableClient } from "./producer-client.ts";
import { createSendingClient } from "./sending-client.ts";
import { rotate } from "./shared-admin.ts";

export interface OutgoingRecord {
  readonly topic: string;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Chosen by murmur2 of the key when absent, in turn for a record without a key. */
  readonly partition?: number;
}

export interface Producer {
  /**
   * Sends records in the order of the calls. Resolves when all in-sync replicas acknowledged every record. While the
   * producer is open it sends again for ever (P2); it rejects only with PosthasteError `invalid_input` (a record that no
   * broker would take, a topic that was not named, a partition that does not exist) or `closed`.
   */
  send(records: readonly OutgoingRecord[]): Promise<void>;
  /** Partitions of a topic that the producer was made for, as far as it knows; undefined for any other. */
  partitionsOf(topic: string): number | undefined;
  /** Bytes of keys and values that are not acknowledged yet. */
  readonly pendingBytes: number;
  /** Ms since the oldest unacknowledged call; 0 when there is none. */
  readonly oldestPendingMs: number;
  /** Flushes, at most `flushMs` (default `CLOSE_FLUSH_MS`), rejects with `closed` what was not acknowledged by then, and disconnects. */
  close(flushMs?: number): Promise<void>;
}

export interface ProducerOptions {
  /** The metrics' label `class`: what the producer is for. */
  readonly name: string;
  /** Every topic that is sent to. */
  readonly topics: readonly string[];
}

/** A broker takes 1,048,588 bytes a partition and request (`message.max.bytes`); this leaves room for the batch's own header. */
export const MAX_BATCH_BYTES = 1_000_000;
/** So many at the most go out one by one when a broker refuses a partition's batch for what one record is. */
const MAX_BATCH_RECORDS = 1000;
/** Lengths, offset and time of a record, and its place in the batch. */
const RECORD_OVERHEAD_BYTES = 40;
const HEADER_OVERHEAD_BYTES = 6;
/** How long `close` waits for acknowledgements. */
export const CLOSE_FLUSH_MS = 5000;
/** The same where nothing is lost by it: after a consumer's drain, what is not acknowledged belongs to records that are read again. */
export const DRAINED_FLUSH_MS = 1000;
/** Longer than the wrapper's own longest deadline: kafkajs's must never be the one that decides. */
const REQUEST_TIMEOUT_MS = 120_000;

/** Resolves when the partitions of `topics` are known; waits for brokers, rejects with `topic_missing` for a topic that does not exist. */
export async function createProducer(connection: KafkaConnection, options: ProducerOptions): Promise<Producer> {
  const counts = await readPartitionCounts(connection, options.topics);
  const makeClient: MakeSendingClient = (made) => {
    const client = connection.createClient({
      brokers: rotate(connection.brokers, made),
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    return createSendingClient(client);
  };
  const producer = new GroupCommitProducer({ ...options, connection, makeClient, partitionsOf: counts.of });
  return {
    send: (records) => producer.send(records),
    partitionsOf: counts.of,
    get pendingBytes() {
      return producer.pendingBytes;
    },
    get oldestPendingMs() {
      return producer.oldestPendingMs;
    },
    close: async (flushMs) => {
      counts.close();
      await producer.close(flushMs);
    },
  };
}

export interface GroupCommitProducerOptions extends ProducerOptions {
  readonly connection: Pick<KafkaConnection, "log" | "metrics">;
  readonly makeClient: MakeSendingClient;
  readonly partitionsOf: (topic: string) => number | undefined;
}

/** The producer over any client; `createProducer` gives it kafkajs's. */
export class GroupCommitProducer implements Producer {
  readonly #options: GroupCommitProducerOptions;
  readonly #queue = new GroupCommitQueue({ maxRecords: MAX_BATCH_RECORDS, maxBytes: MAX_BATCH_BYTES });
  readonly #client: ReplaceableClient;
  readonly #ending = new AbortController();
  /** The loop that empties the queue; null while there is nothing to send. */
  #sending: Promise<void> | null = null;
  #turn = 0;
  #closed = false;

  constructor(options: GroupCommitProducerOptions) {
    this.#options = options;
    this.#client = new ReplaceableClient(options.makeClient);
    options.connection.metrics?.producerReplaced.inc({ class: options.name }, 0);
  }

  get pendingBytes(): number {
    return this.#queue.pendingBytes;
  }

  get oldestPendingMs(): number {
    const sinceMs = this.#queue.oldestSinceMs;
    return sinceMs === null ? 0 : performance.now() - sinceMs;
  }

  partitionsOf(topic: string): number | undefined {
    return this.#options.partitionsOf(topic);
  }

  send(records: readonly OutgoingRecord[]): Promise<void> {
    if (this.#closed) return Promise.reject(closedError());
    const placed: PlacedRecord[] = [];
    for (const record of records) {
      const place = this.#place(record);
      // Nothing of a call is sent when a part of it cannot be.
      if (place instanceof PosthasteError) return Promise.reject(place);
      placed.push(place);
    }
    const acknowledged = this.#queue.push(placed, performance.now());
    this.#sending ??= this.#sendAll();
    return acknowledged;
  }

  async close(flushMs = CLOSE_FLUSH_MS): Promise<void> {
    this.#closed = true;
    if (this.#sending !== null) {
      await withDeadline(this.#sending, flushMs, "flushing").catch(() => {
        this.#options.connection.log.error(this.#fields("producer_close_unflushed"), "records are given up");
      });
    }
    this.#ending.abort();
    this.#queue.rejectAll(closedError());
    await this.#client.close();
    this.#report();
  }

  /** P1: the only caller of `sendBatch`. Ends when nothing is unacknowledged. */
  async #sendAll(): Promise<void> {
    // What is given within the same turn of the event loop goes together.
    await Promise.resolve();
    let failures = 0;
    for (let batch = this.#queue.next(); batch !== null && !this.#ending.signal.aborted; batch = this.#queue.next()) {
      const failure = await this.#trySend(batch);
      this.#report();
      if (failure === null) {
        if (failures > 0) this.#options.connection.log.info(this.#fields("producer_recovered"), "sending works again");
        failures = 0;
        continue;
      }
      if (this.#ending.signal.aborted) break;
      failures += 1;
      this.#replaceClient(failure, failures);
      await pause(retryPauseMs(failures), this.#ending.signal);
    }
    this.#sending = null;
  }

  /** Null when every record of the batch was acknowledged, or refused to its caller. */
  async #trySend(batch: Batch): Promise<unknown> {
    const startedAtMs = performance.now();
    try {
      const answer = await this.#client.sendBatch(batch);
      const left = this.#queue.acknowledge(acknowledgedBy(answer));
      if (left > 0) return new PosthasteError("broker_unavailable", `${left} records are missing from the answer`);
      const seconds = (performance.now() - startedAtMs) / 1000;
      this.#options.connection.metrics?.producerSendSeconds.observe({ class: this.#options.name }, seconds);
      return null;
    } catch (error) {
      if (!isRefusedRecord(error)) return error;
      const refusal = new PosthasteError("invalid_input", `the broker refuses a record: ${describe(error)}`, {
        cause: error,
      });
      this.#queue.refuse(refusal);
      // Other brokers may not have answered for their part: what goes out next is the only one outstanding (P1).
      this.#client.replace();
      return null;
    }
  }

  /** P2. */
  #replaceClient(failure: unknown, failures: number): void {
    this.#client.replace();
    const { connection, name } = this.#options;
    connection.metrics?.producerReplaced.inc({ class: name });
    const fields = { ...this.#fields("producer_replaced"), failures, reason: describe(failure) };
    if (isFailureLine(failures)) connection.log.warn(fields, "a send failed: sending again with a new client");
  }

  #place({ topic, key, value, headers, partition }: OutgoingRecord): PlacedRecord | PosthasteError {
    const count = this.#options.partitionsOf(topic);
    if (count === undefined) return new PosthasteError("invalid_input", `the producer was not made for topic ${topic}`);
    if (partition !== undefined && !(partition >= 0 && partition < count)) {
      return new PosthasteError("invalid_input", `topic ${topic} has no partition ${partition}`);
    }
    const keyBytes = typeof key === "string" ? Buffer.from(key) : key;
    let bytes = RECORD_OVERHEAD_BYTES + (keyBytes?.length ?? 0) + (value?.length ?? 0);
    // A character is at most three bytes; headers are short, so the guess costs nothing.
    for (const name in headers) bytes += HEADER_OVERHEAD_BYTES + 3 * (name.length + (headers[name]?.length ?? 0));
    if (bytes > MAX_BATCH_BYTES) {
      return new PosthasteError("invalid_input", `a record of ${bytes} bytes for ${topic}: at most ${MAX_BATCH_BYTES}`);
    }
    const chosen = partition ?? (keyBytes ? partitionOf(keyBytes, count) : this.#nextTurn(count));
    return { topic, partition: chosen, key: keyBytes, value, bytes, ...(headers ? { headers } : {}) };
  }

  #nextTurn(count: number): number {
    this.#turn = (this.#turn + 1) % count;
    return this.#turn;
  }

  #report(): void {
    const { connection, name } = this.#options;
    connection.metrics?.producerPendingBytes.set({ class: name }, this.#queue.pendingBytes);
  }

  #fields(event: string): Record<string, unknown> {
    return {
      event,
      producer: this.#options.name,
      pendingBytes: this.pendingBytes,
      oldestPendingMs: this.oldestPendingMs,
    };
  }
}

function closedError(): PosthasteError {
  return new PosthasteError("closed", "the producer is closed");
}
