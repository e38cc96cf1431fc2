/**
 * Reads every partition of `posthaste.audiences` into the membership's table, for as long as the process runs.
 *
 * Owns: the readers of the partitions (topic-readers.ts).
 * - A reader starts at the table's position of its partition (MT1 of membership-table.ts), or at the topic's start.
 * MF2  The records of one partition are taken at a time, so that memory holds a few answers of a long topic at once.
 * MF3  A reader that failed goes on from the table's position. When the topic was made anew, the table is emptied
 *      first.
 * MF4  A record that cannot be decoded is logged, counted and passed over. Before that the follower waits for a schema
 *      that the registry does not know, which holds up its partition alone: a record that was passed over would never
 *      be in the table.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { AwaitedSchemas } from "@posthaste/kafka/codec/awaited-schemas";
import { followedSchemas } from "@posthaste/kafka/codec/followed-schemas";
import { countUnreadable, isUnreadable, startUnreadableCount } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { TopicReaders } from "@posthaste/kafka/log/topic-readers";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { MembershipClient } from "./membership-client.ts";
import { type MembershipEntry, toMembershipEntry } from "./membership-entry.ts";

/** The ms between two looks at the topic while a partition is not followed. */
const LOOK_MS = 500;
/**
 * The most bytes of a partition's answer: some thousand records. Memory may hold an answer of every partition at once.
 */
const FETCH_BYTES = 128 * 1024;
/** How many records go to the table at a time, so that questions come in between. */
const STEP_RECORDS = 500;
const MESSAGE = "the audiences' membership is behind";

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
  readonly #readers: TopicReaders;
  readonly #positions: Map<number, number>;
  #taking: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();
  readonly #schemas: AwaitedSchemas;

  constructor(connection: KafkaConnection, options: MembershipFollowerOptions) {
    this.#connection = connection;
    this.#options = options;
    const { topic, topicId, table } = options;
    startUnreadableCount(connection.metrics, topic);
    const { signal } = this.#closing;
    this.#schemas = followedSchemas({ connection, ...options }, "follower_waits_for_schema", signal);
    this.#positions = new Map(table.start.positions.map(({ partition, next }) => [partition, next]));
    this.#readers = new TopicReaders(connection, {
      ...{ topic, topicId: topicId === "" ? null : topicId, maxBytes: FETCH_BYTES, lookMs: LOOK_MS },
      from: ({ partition }) => this.#positions.get(partition) ?? "start",
      onRecords: (...taken) => this.#takeInTurn(...taken),
      // MF3.
      onRemade: async () => {
        // Records that a reader passed on before are of the old topic too.
        await this.#taking;
        await table.clear();
        this.#positions.clear();
      },
      message: MESSAGE,
    });
  }

  /** Resolves when the table has read the topic's end of this moment. Rejects with `deadline_exceeded`. */
  async refresh(timeoutMs: number): Promise<void> {
    await this.#readers.refresh(timeoutMs);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#readers.close();
  }

  /** MF2, MF4. */
  async #takeInTurn(partition: number, records: readonly IncomingRecord[], signal: AbortSignal): Promise<void> {
    for (const { value } of records) if (value !== null) this.#schemas.ahead(value);
    for (const { value } of records) if (value !== null) await this.#schemas.prefetch(value);
    if (signal.aborted) return;
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
      if (this.#closing.signal.aborted) return;
      await table.take(partition, next, entries);
      this.#positions.set(partition, next);
    }
    onTaken();
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
      const { partition, offset } = record;
      this.#connection.log.warn({ event: "record_not_read", topic, partition, offset, err: error }, MESSAGE);
      return [];
    }
  }
}
