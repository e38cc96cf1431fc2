/**
 * Reads every partition of `posthaste.audiences` into the membership's table, for as long as the process runs.
 *
 * Owns: a reader for each partition, and the timer of the next look at the topic.
 * - A reader starts at the table's position of its partition (MT1 of membership-table.ts), or at the topic's start.
 * MF2  The records of one partition are taken at a time, so that memory holds a few answers of a long topic at once.
 * MF3  A reader that fails is started again at the next look, from the table's position. When the topic was made anew
 *      (LR3 of log-reader.ts), the table is emptied first. The follower waits for a topic that does not exist yet, and
 *      follows partitions that are added.
 * MF4  A record that cannot be decoded is logged, counted and passed over. Before that the follower waits for a schema
 *      that the registry does not know, which holds up its partition alone: a record that was passed over would never
 *      be in the table.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import { isPosthasteError } from "@posthaste/core/errors";
import type { AwaitedSchemas } from "@posthaste/kafka/codec/awaited-schemas";
import { followedSchemas } from "@posthaste/kafka/codec/followed-schemas";
import { countUnreadable, isUnreadable, startUnreadableCount } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { ledOffsets, topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog, type LogReader } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { MembershipClient } from "./membership-client.ts";
import { type MembershipEntry, toMembershipEntry } from "./membership-entry.ts";

/** The time between two looks at the topic, in ms: while a partition is not followed, and otherwise. */
const LOOK_MS = 500;
const IDLE_LOOK_MS = 30_000;
/**
 * The most bytes of a partition's answer: some thousand records. Memory may hold an answer of every partition at once.
 */
const FETCH_BYTES = 128 * 1024;
/** How many records go to the table at a time, so that questions come in between. */
const STEP_RECORDS = 500;

export interface MembershipFollowerOptions {
  readonly topic: string;
  /** The id of the topic that the table's positions are of; empty where the cluster gives no ids. */
  readonly topicId: string;
  readonly table: MembershipClient;
  readonly codec: Codec<MembershipRecord>;
  /** How long a record waits for a schema that the registry says it does not know, ms. */
  readonly unknownSchemaMs: number;
  /** Called when records were taken, which may have made users stale (U3 of core's membership.ts). */
  readonly onTaken: () => void;
}

export class MembershipFollower {
  readonly #connection: KafkaConnection;
  readonly #options: MembershipFollowerOptions;
  readonly #readers = new Map<number, LogReader>();
  readonly #positions: Map<number, number>;
  readonly #waiting = new Set<() => void>();
  #taking: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  /** Null once the topic was made anew. */
  #topicId: string | null;
  #wasRemade = false;
  #isReported = false;
  readonly #closing = new AbortController();
  readonly #schemas: AwaitedSchemas;

  constructor(connection: KafkaConnection, options: MembershipFollowerOptions) {
    this.#connection = connection;
    this.#options = options;
    const { topic, topicId } = options;
    this.#topicId = topicId === "" ? null : topicId;
    startUnreadableCount(connection.metrics, topic);
    const { signal } = this.#closing;
    this.#schemas = followedSchemas({ connection, ...options }, "follower_waits_for_schema", signal);
    this.#positions = new Map(options.table.start.positions.map(({ partition, next }) => [partition, next]));
    this.#lookLater(0);
  }

  /** Resolves when the table has read the topic's end of this moment. Rejects with `deadline_exceeded`. */
  async refresh(timeoutMs: number): Promise<void> {
    const { topic } = this.#options;
    const giveUpAtMs = performance.now() + timeoutMs;
    const ends = await withDeadline(topicOffsets(this.#connection, topic), timeoutMs, `asking where ${topic} ends`);
    const isThere = (): boolean =>
      ends.every(({ partition, start, end }) => end <= start || (this.#positions.get(partition) ?? 0) >= end);
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (isThere()) resolve();
    };
    this.#waiting.add(look);
    look();
    await withDeadline(promise, Math.max(0, giveUpAtMs - performance.now()), `reading ${topic} to its end`).finally(
      () => this.#waiting.delete(look),
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #lookLater(afterMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#look().then(
        (isWhole) => this.#lookLater(isWhole ? IDLE_LOOK_MS : LOOK_MS),
        (reason: unknown) => {
          this.#noteRemade(reason);
          // The log has one line for a failure that lasts, and not one for each look.
          if (!this.#isReported) this.#say("topic_not_followed", reason);
          this.#isReported = true;
          this.#lookLater(LOOK_MS);
        },
      );
    }, afterMs);
  }

  /** MF3. Returns whether every partition is followed. */
  async #look(): Promise<boolean> {
    const { topic, table } = this.#options;
    const { offsets, leaderless } = await ledOffsets(this.#connection, topic);
    if (this.#wasRemade) {
      await Promise.all([...this.#readers.values()].map((reader) => reader.close()));
      this.#readers.clear();
      // Records that a reader passed on before are of the old topic too.
      await this.#taking;
      await table.clear();
      this.#positions.clear();
      this.#topicId = null;
      this.#wasRemade = false;
    }
    for (const { partition } of offsets) {
      if (this.#readers.has(partition) || this.#isClosed) continue;
      const reader = await followLog(this.#connection, {
        topic,
        topicId: this.#topicId,
        partition,
        from: this.#positions.get(partition) ?? "start",
        maxBytes: FETCH_BYTES,
        onRecords: (records) => this.#takeInTurn(partition, records),
        onFetched: ({ position }) => this.#reached(partition, position),
        onFailure: (reason) => this.#drop(partition, reason),
      });
      if (this.#isClosed) await reader.close();
      else this.#readers.set(partition, reader);
    }
    this.#isReported = false;
    return leaderless.length === 0 && this.#readers.size === offsets.length;
  }

  /** MF2, MF4. */
  async #takeInTurn(partition: number, records: readonly IncomingRecord[]): Promise<void> {
    for (const { value } of records) if (value !== null) this.#schemas.ahead(value);
    for (const { value } of records) if (value !== null) await this.#schemas.prefetch(value);
    const taken = this.#taking.then(() => this.#take(partition, records));
    this.#taking = taken.catch(() => undefined);
    await taken;
  }

  async #take(partition: number, records: readonly IncomingRecord[]): Promise<void> {
    const { table, onTaken } = this.#options;
    for (let from = 0; from < records.length; from += STEP_RECORDS) {
      const step = records.slice(from, from + STEP_RECORDS);
      const entries: MembershipEntry[] = [];
      for (const record of step) entries.push(...this.#read(record));
      const next = (step.at(-1)?.offset ?? 0) + 1;
      if (this.#isClosed) return;
      await table.take(partition, next, entries);
      this.#reached(partition, next);
    }
    onTaken();
  }

  /** Notes a position, also one behind offsets without a record, as compaction leaves them. */
  #reached(partition: number, position: number): void {
    if (position <= (this.#positions.get(partition) ?? -1)) return;
    this.#positions.set(partition, position);
    for (const look of this.#waiting) look();
  }

  /** MF4. */
  #read(record: IncomingRecord): readonly MembershipEntry[] {
    const { codec, topic } = this.#options;
    try {
      const entry = toMembershipEntry(record, codec);
      return entry === null ? [] : [entry];
    } catch (error) {
      if (!isUnreadable(error) || record.value === null) throw error;
      countUnreadable(this.#connection.metrics, topic, { bytes: record.value, error });
      this.#say("record_not_read", error, { partition: record.partition, offset: record.offset });
      return [];
    }
  }

  #drop(partition: number, reason: Error): void {
    this.#readers.delete(partition);
    if (this.#isClosed) return;
    this.#noteRemade(reason);
    this.#say("topic_reader_failed", reason, { partition });
    // Without a timer a look is under way, which sets one when it ends.
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#lookLater(LOOK_MS);
  }

  /** MF3. This also sees a topic that was made anew before the first reader began. */
  #noteRemade(reason: unknown): void {
    if (isPosthasteError(reason, "offset_out_of_range")) this.#wasRemade = true;
  }

  #say(event: string, reason: unknown, fields: Record<string, unknown> = {}): void {
    const { log } = this.#connection;
    log.warn({ event, topic: this.#options.topic, ...fields, err: reason }, "the audiences' membership is behind");
  }
}
