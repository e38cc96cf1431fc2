/**
 * The joined table: a compacted topic of one partition as a map in memory. Nobody relies on the table before it was
 * read to the topic's end; from then on it follows the topic.
 *
 * Owns: the map, and the last revision of every key, removed keys included. The table is
 * - *catching up* from the start, until it has read to the end that the topic had then;
 * - *following* the topic from then on, until `close` or a failure.
 * T1  The table applies a record only when its offset is above the last one read and its revision is not below the
 *     key's (P5). A send that was given up may be written after newer ones, and must not undo them. Of a record that
 *     was set aside (T4), only the revision counts.
 * T2  A removed key keeps its revision, so that a late write does not bring the key back.
 * T3  `caughtUp` means the end that the topic had after the table was made; `refresh` means the end after the call.
 * T4  A record that cannot be decoded changes nothing, and is logged and counted: one bad record must not take every
 *     destination down. While the registry does not answer, or refuses the login, the table waits for the record's
 *     schema. A record whose schema the registry does not know is set aside, and applied when the registry knows the
 *     schema, unless its key got a newer record in between (unknown-schema-records.ts).
 * T5  `onStale` is called for a late write only while it is the newest record of its key. A late write that was
 *     followed by its repair in the log is of no interest.
 */
import { headerText, REVISION_HEADER } from "@posthaste/contracts/headers";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { countUnreadable, startUnreadableCount } from "../codec/unreadable.ts";
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import { describe } from "../connection/kafka-errors.ts";
import { singleFlight } from "../connection/single-flight.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { endOffset } from "../connection/topic-offsets.ts";
import { whenReachable } from "../connection/when-reachable.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { followLog, type LogReader } from "./log-reader.ts";
import { momentOf } from "./moment.ts";
import { RevisionWaiters } from "./revision-waiters.ts";
import { TableProgress } from "./table-progress.ts";
import { fetchTableSchema } from "./table-schema.ts";
import { UnknownSchemaRecords } from "./unknown-schema-records.ts";

export interface Table<T> {
  get(key: string): T | undefined;
  entries(): Iterable<[string, T]>;
  readonly size: number;
  /** The table has read everything up to this offset; -1 when it has read nothing. */
  readonly appliedOffset: number;
  /**
   * For `/readyz`: true, or a text that says since when the table has not been at its topic's end. The table goes on
   * following the topic, and tells none of its readers.
   */
  readonly state: true | string;
  /** The table held its whole topic at this time, in ms since the epoch; null before the first time. */
  readonly asOfMs: number | null;
  /** Resolves when the table has read everything that the topic held when the table was made. */
  caughtUp(): Promise<void>;
  /** Resolves when the table has read everything that the topic held at the call. Rejects with `deadline_exceeded`. */
  refresh(timeoutMs: number): Promise<void>;
  /** Resolves when the table holds this revision of the key, or a later one. Rejects with `deadline_exceeded`. */
  waitForRevision(key: string, revision: number, timeoutMs: number): Promise<void>;
  /** Resolves when the table has read this offset. Rejects with `deadline_exceeded`. */
  waitForOffset(offset: number, timeoutMs: number): Promise<void>;
  /** The revision held for a key, also of its removal; undefined when the table never saw the key. */
  revisionOf(key: string): number | undefined;
  close(): Promise<void>;
}

export interface TableOptions<T> {
  readonly topic: string;
  readonly decode: (bytes: Buffer) => T;
  /** Awaited before `decode`: a codec's `prefetch`. */
  readonly prefetch?: (bytes: Buffer) => Promise<void> | undefined;
  /**
   * Called after each change, from the topic's first record on, with its record; `undefined` is a removal. Changes
   * come in offset order, except those of records that were set aside for their schema (T4): such a change comes once
   * the schema is known, after changes of other keys at higher offsets.
   */
  readonly onChange?: (key: string, value: T | undefined, record: Pick<IncomingRecord, "offset" | "headers">) => void;
  /**
   * The table ignored a record with a lower revision than the key's. The topic's writer then writes the newest one
   * again (P5).
   */
  readonly onStale?: (key: string, seenRevision: number) => void;
  /** The table can no longer follow its topic. Default: an uncaught error, which ends the process. */
  readonly onFailure?: (reason: Error) => void;
  /** How long to ask again for a missing topic, in ms. Default `ADMIN_PATIENCE_MS`. */
  readonly missingPatienceMs?: number;
  /** Ms between two questions for a schema that the registry does not know (T4). Default 5,000. */
  readonly unknownSchemaRoundMs?: number;
  /** How long the table may be away from its topic's end before `state` says so, in ms. Default `BEHIND_LIMIT_MS`. */
  readonly behindLimitMs?: number;
  readonly clock?: Clock;
}

/** Resolves when reading has begun. Waits for brokers. Rejects with `topic_missing`. */
export async function createTable<T>(connection: KafkaConnection, options: TableOptions<T>): Promise<Table<T>> {
  const table = new CompactedTable(connection, options);
  await table.start();
  return table;
}

class CompactedTable<T> implements Table<T> {
  readonly #connection: KafkaConnection;
  readonly #options: TableOptions<T>;
  readonly #values = new Map<string, T>();
  readonly #revisions = new Map<string, number>();
  readonly #revisionWaiters: RevisionWaiters;
  readonly #progress: TableProgress;
  readonly #unknownSchema: UnknownSchemaRecords;
  #appliedOffset = -1;
  #reader: LogReader | null = null;
  readonly #closing = new AbortController();
  readonly #askEnd: () => Promise<number>;
  #caughtUp: Promise<void> = Promise.resolve();
  /** Keys whose newest record in the log is a late write, while the table catches up (T5); null from then on. */
  #staleKeys: Map<string, number> | null = new Map();

  constructor(connection: KafkaConnection, options: TableOptions<T>) {
    this.#connection = connection;
    this.#options = options;
    this.#revisionWaiters = new RevisionWaiters(options.topic);
    this.#progress = new TableProgress({
      topic: options.topic,
      metrics: connection.metrics,
      limitMs: options.behindLimitMs,
      clock: options.clock,
    });
    this.#unknownSchema = new UnknownSchemaRecords({
      prefetch: (bytes) => options.prefetch?.(bytes),
      onKnown: (record) => this.#applySetAside(record),
      onFailure: (reason) => this.#fail(reason),
      roundMs: options.unknownSchemaRoundMs,
    });
    this.#askEnd = singleFlight(() => endOffset(connection, options.topic));
  }

  async start(): Promise<void> {
    const { topic, missingPatienceMs } = this.#options;
    this.#report();
    startUnreadableCount(this.#connection.metrics, topic);
    this.#connection.metrics?.tableCaughtUpTimestamp.set({ topic }, 0);
    const reader = await followLog(this.#connection, {
      topic,
      partition: 0,
      from: "start",
      onRecords: (records) => this.#take(records),
      onFetched: (at) => this.#progress.reached(at),
      onFailure: (reason) => this.#fail(reason),
      clock: this.#options.clock,
      ...(missingPatienceMs === undefined ? {} : { missingPatienceMs }),
    });
    this.#reader = reader;
    this.#caughtUp = this.#catchUp(reader);
    // Callers of `caughtUp` get the rejection, but there may be none.
    this.#caughtUp.catch(() => {});
  }

  async #catchUp(reader: LogReader): Promise<void> {
    const askedAt = momentOf(this.#options.clock ?? SYSTEM_CLOCK);
    const end = await whenReachable(this.#connection, this.#askEnd);
    await reader.reached(end);
    // At an empty topic no fetch would answer for seconds.
    this.#progress.reached({ position: reader.position, end, askedAt });
    const staleKeys = this.#staleKeys ?? [];
    this.#staleKeys = null;
    for (const [key, revision] of staleKeys) this.#options.onStale?.(key, revision);
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  entries(): Iterable<[string, T]> {
    return this.#values.entries();
  }

  get size(): number {
    return this.#values.size;
  }

  get appliedOffset(): number {
    return Math.max(this.#appliedOffset, (this.#reader?.position ?? 0) - 1);
  }

  get state(): true | string {
    return this.#progress.state;
  }

  get asOfMs(): number | null {
    return this.#progress.asOfMs;
  }

  revisionOf(key: string): number | undefined {
    return this.#revisions.get(key);
  }

  caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  refresh(timeoutMs: number): Promise<void> {
    const { topic, clock = SYSTEM_CLOCK } = this.#options;
    const giveUpAtMs = clock.monotonicMs() + timeoutMs;
    const refreshed = this.#askEnd().then((end) =>
      this.#reader?.reached(end, Math.max(0, giveUpAtMs - clock.monotonicMs())),
    );
    return withDeadline(refreshed, timeoutMs, `reading ${topic} to its end`);
  }

  waitForOffset(offset: number, timeoutMs: number): Promise<void> {
    if (this.appliedOffset >= offset) return Promise.resolve();
    return this.#reader?.reached(offset + 1, timeoutMs) ?? Promise.resolve();
  }

  waitForRevision(key: string, revision: number, timeoutMs: number): Promise<void> {
    if ((this.#revisions.get(key) ?? -1) >= revision) return Promise.resolve();
    return this.#revisionWaiters.wait(key, revision, timeoutMs);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#unknownSchema.close();
    await this.#reader?.close();
  }

  async #take(records: readonly IncomingRecord[]): Promise<void> {
    for (const record of records) {
      if (record.offset <= this.#appliedOffset) continue;
      if (record.value !== null) await this.#prefetch(record.value);
      this.#apply(record);
      this.#appliedOffset = record.offset;
    }
    this.#report();
  }

  #prefetch(bytes: Buffer): Promise<void> {
    const { topic, prefetch } = this.#options;
    return fetchTableSchema(bytes, { topic, prefetch, log: this.#connection.log, signal: this.#closing.signal });
  }

  #apply(record: IncomingRecord): void {
    const { key: keyBytes, value: bytes, headers, offset } = record;
    if (keyBytes === null) return;
    const key = keyBytes.toString();
    const revision = Number(headerText(headers, REVISION_HEADER) ?? 0);
    const held = this.#revisions.get(key);
    if (held !== undefined && revision < held) {
      this.#ignoreStale(key, revision, held);
      return;
    }
    const value = bytes === null ? undefined : this.#decode(bytes, key, offset);
    if (value === UNREADABLE) return;
    if (value === UNKNOWN_SCHEMA) {
      this.#unknownSchema.add(key, record, revision);
      return;
    }
    this.#unknownSchema.forget(key, revision);
    this.#set(key, value, revision, record);
  }

  /** Applies a record that was set aside, unless its key has a newer revision by now (T1). */
  #applySetAside(record: IncomingRecord): void {
    const { topic } = this.#options;
    this.#connection.log.info({
      event: "table_schema_known",
      topic,
      key: record.key?.toString(),
      offset: record.offset,
    });
    this.#apply(record);
    this.#report();
  }

  #set(key: string, value: T | undefined, revision: number, record: IncomingRecord): void {
    this.#revisions.set(key, revision);
    this.#staleKeys?.delete(key);
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.#options.onChange?.(key, value, record);
    this.#revisionWaiters.wake(key, revision);
  }

  /** Ignores a late write, and reports it while it is its key's newest record (T5). */
  #ignoreStale(key: string, revision: number, held: number): void {
    const { topic, onStale } = this.#options;
    this.#connection.metrics?.tableStaleRecords.inc({ topic });
    if (this.#staleKeys) {
      this.#staleKeys.set(key, revision);
      return;
    }
    const fields = { event: "table_record_stale", topic, key, revision, held };
    this.#connection.log.warn(fields, "an older write came late");
    onStale?.(key, revision);
  }

  /** Decodes a value, or reports that it cannot be read (T4). */
  #decode(bytes: Buffer, key: string, offset: number): T | typeof UNREADABLE | typeof UNKNOWN_SCHEMA {
    const { topic, decode } = this.#options;
    try {
      return decode(bytes);
    } catch (error) {
      if (!isPosthasteError(error)) throw error;
      const fields = { event: "table_record_unreadable", topic, key, offset, reason: describe(error) };
      countUnreadable(this.#connection.metrics, topic, { bytes, error });
      this.#connection.log.error(fields, "a record of a table cannot be read: what was held stays");
      return error.code === "unknown_schema" ? UNKNOWN_SCHEMA : UNREADABLE;
    }
  }

  #fail(reason: Error): void {
    const { onFailure = throwUncaught } = this.#options;
    onFailure(reason);
  }

  #report(): void {
    this.#connection.metrics?.tableRecords.set({ topic: this.#options.topic }, this.#values.size);
  }
}

const UNREADABLE = Symbol("unreadable");
const UNKNOWN_SCHEMA = Symbol("unknown schema");

function throwUncaught(reason: Error): void {
  queueMicrotask(() => {
    throw reason;
  });
}
