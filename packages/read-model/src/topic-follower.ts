/**
 * Follows every partition of a topic into a projection, for as long as the process runs.
 *
 * Owns: the readers of the partitions (topic-readers.ts), and how far the store has each of them.
 * - A reader starts at the position in the store (M1 of store.ts), or at the topic's start.
 * - A reader starts at most as many records before the end as the projection holds entries: nearly every record
 *   becomes at least one entry, so the projection would drop the entries of earlier records again.
 * TF3  A reader that failed goes on from the store's position. When somebody made the topic anew, everything held of it
 *      is void: the follower tells its owner to begin again.
 * TF4  A record that cannot be decoded is quarantined, and passed over once the brokers have it there. Before that, the
 *      follower waits for a schema that the registry does not know, together with all others of the same fetch (AW3 of
 *      awaited-schemas.ts).
 * TF5  Watching callers get each entry after the store has it. A dead letter comes with its mark in the store, unless
 *      more than `REWIND_RECORDS` are left to read. When a follower begins, it reads that many stored records again. So
 *      a restarted process can send watching callers the entries that they missed.
 * TF6  Until the follower has once read everything that stood in the topic, it tells its progress; later records are no
 *      rebuild.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { AwaitedSchemas } from "@posthaste/kafka/codec/awaited-schemas";
import { followedSchemas } from "@posthaste/kafka/codec/followed-schemas";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { PartitionOffsets } from "@posthaste/kafka/connection/topic-offsets";
import type { ReadEntry, RecentEntries } from "@posthaste/kafka/log/recent-entries";
import { TopicReaders } from "@posthaste/kafka/log/topic-readers";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { ProjectionEntry } from "./projection-entry.ts";
import { type EntriesByProjection, PROJECTION_NAMES, type ProjectionName } from "./store.ts";
import type { StoreClient } from "./store-client.ts";

/** How many records of the topic are read again for watching callers (TF5): about those that come within a restart. */
const REWIND_RECORDS = 1000;

/**
 * The entries that go to the store at a time, so that questions get their turn in between; an attempt's is joined by
 * its delivery's there.
 */
const STEP_ENTRIES = 250;

/**
 * The most bytes of one fetch: every partition of every topic is read at once, and each fetch is held as records beside
 * its bytes.
 */
const FETCH_BYTES = 512 * 1024;

/** About how many bytes of memory an entry takes beside its texts. */
const ENTRY_BYTES = 300;

/** The progress of a reading, in records. */
export interface Reading {
  readonly left: number;
  readonly of: number;
}

export interface TopicFollowerOptions<T> {
  readonly topic: string;
  /** The projection under whose name the positions are kept, and by whose bounds the topic is read. */
  readonly projection: ProjectionName;
  /** The id of the topic whose positions the store has; empty where it is not known. */
  readonly topicId: string;
  /** Called when somebody made the topic anew. */
  readonly onRemade: (reason: Error) => void;
  readonly store: StoreClient;
  readonly codec: Codec<T>;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  readonly unknownSchemaMs: number;
  readonly toEntries: (value: T, record: IncomingRecord) => EntriesByProjection;
  /** The entries of a record without a value; none by default. */
  readonly toRemoval?: (record: IncomingRecord) => EntriesByProjection;
  /** Gets the entries of the projection, or of `recentOf`, as they are read (TF5). */
  readonly recent?: RecentEntries<ProjectionEntry> | undefined;
  readonly recentOf?: ProjectionName;
  /** Adds the store's mark to each of these entries. Where the function is absent, entries stay as they were read. */
  readonly withNotes?: (entries: readonly ProjectionEntry[]) => Promise<readonly ProjectionEntry[]>;
}

export class TopicFollower<T> {
  readonly #options: TopicFollowerOptions<T>;
  readonly #readers: TopicReaders;
  /** The next offset of each partition, as the store has it. */
  readonly #positions: Map<number, number>;
  /** For each partition, the offset after the last record that was passed over or became no entry (M4 of store.ts). */
  readonly #passedTo = new Map<number, number>();
  #ends: readonly PartitionOffsets[] | null = null;
  /** TF6: the largest number of unread records so far. */
  #unread = 0;
  #wasReadOnce = false;
  readonly #closing = new AbortController();
  readonly #schemas: AwaitedSchemas;

  constructor(connection: KafkaConnection, options: TopicFollowerOptions<T>) {
    this.#options = options;
    const { topic, store, projection, recent, topicId } = options;
    recent?.beginTopic(topicId);
    const { signal } = this.#closing;
    this.#schemas = followedSchemas({ connection, ...options }, "follower_waits_for_schema", signal);
    this.#positions = new Map(store.start.positions[projection].map(({ partition, next }) => [partition, next]));
    this.#readers = new TopicReaders(connection, {
      ...{ topic, topicId: topicId === "" ? null : topicId, maxBytes: FETCH_BYTES },
      from: (begun, all) => this.#begin(begun, all),
      onRecords: (partition, records) => this.#take(partition, records),
      onLooked: (ends) => {
        this.#ends = ends;
        this.#noteReading();
      },
      // TF3: also where somebody made the topic anew before the first reader began.
      onFailure: (reason) => {
        if (isPosthasteError(reason, "offset_out_of_range")) options.onRemade(reason);
      },
      isIdle: () => this.behind === 0,
      message: "the delivery log is behind",
    });
  }

  /**
   * The number of records that stood in the topic at the last look and are not read yet; null before the first look.
   */
  get behind(): number | null {
    if (this.#ends === null) return null;
    const unread = ({ partition, start, end }: PartitionOffsets): number =>
      Math.max(0, end - Math.max(start, this.#positions.get(partition) ?? 0));
    return this.#ends.reduce((sum, partition) => sum + unread(partition), 0);
  }

  /** TF6: null before the first look, and once the first reading is over. */
  get reading(): Reading | null {
    const left = this.behind;
    return left === null || this.#wasReadOnce ? null : { left, of: Math.max(left, this.#unread) };
  }

  /** Everything that stood in the topic at this moment has been read; null before the first time. */
  get asOfMs(): number | null {
    return this.#readers.asOfMs;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#readers.close();
  }

  #noteReading(): void {
    const left = this.behind;
    if (left === 0) this.#wasReadOnce = true;
    this.#unread = Math.max(this.#unread, left ?? 0);
  }

  #begin({ partition, end }: PartitionOffsets, all: readonly PartitionOffsets[]): number {
    const { store, projection } = this.#options;
    const lowest = Math.max(0, end - store.start.bounds[projection].maxEntries);
    const stored = this.#positions.get(partition) ?? 0;
    if (lowest > stored) this.#passedTo.set(partition, lowest);
    return this.#beginRecent(partition, Math.max(stored, lowest), all);
  }

  /** TF5: the offset at which the reading begins, where the store needs the records from `from` on. */
  #beginRecent(partition: number, from: number, ends: readonly PartitionOffsets[]): number {
    const { recent } = this.#options;
    if (recent === undefined || recent.nextOf(partition) === from) return from;
    const begin = Math.max(0, from - Math.ceil(REWIND_RECORDS / ends.length));
    recent.begin(partition, begin);
    recent.sawEnd(partition, ends.find((each) => each.partition === partition)?.end ?? begin);
    return begin;
  }

  async #take(partition: number, records: readonly IncomingRecord[]): Promise<void> {
    const { projection, store, recent, recentOf = projection } = this.#options;
    const stored = this.#positions.get(partition) ?? 0;
    let step = new EntriesStep();
    for (const { value } of records) if (value !== null) this.#schemas.ahead(value);
    for (const [index, record] of records.entries()) {
      const read = await this.#read(record, stored);
      if ((read[projection] ?? []).length === 0) this.#passedTo.set(partition, record.offset + 1);
      step.add(read);
      const next = record.offset + 1;
      // The entries that the store has already go to watching callers alone.
      if (next !== stored && step.count < STEP_ENTRIES && index < records.length - 1) continue;
      if (this.#closing.signal.aborted) return;
      if (next > stored) {
        const passedTo = this.#passedTo.get(partition) ?? 0;
        await store.take(projection, { partition, next, passedTo, entries: step.entries });
        this.#positions.set(partition, next);
        this.#noteReading();
      }
      const entries = await this.#withNotes(step.entries[recentOf] ?? []);
      recent?.add(partition, next, entries.map(toRecent));
      step = new EntriesStep();
    }
  }

  /** TF5. A rebuild reads no marks: entries read during it are no longer recent at its end. */
  async #withNotes(entries: readonly ProjectionEntry[]): Promise<readonly ProjectionEntry[]> {
    const { withNotes } = this.#options;
    return withNotes === undefined || (this.behind ?? 0) > REWIND_RECORDS ? entries : await withNotes(entries);
  }

  /** TF4. A record below `stored` that cannot be decoded was quarantined before. */
  async #read(record: IncomingRecord, stored: number): Promise<EntriesByProjection> {
    const { codec, toEntries, toRemoval, unreadable } = this.#options;
    if (record.value === null) return toRemoval?.(record) ?? {};
    await this.#schemas.prefetch(record.value);
    const value = decodeOrReason(codec, record.value);
    if (!(value instanceof PosthasteError)) return toEntries(value, record);
    if (record.offset >= stored) await unreadable.put(record, value);
    return {};
  }
}

function toRecent(entry: ProjectionEntry): ReadEntry<ProjectionEntry> {
  const { offset, place, detail, users } = entry;
  return { offset, place, value: entry, bytes: ENTRY_BYTES + detail.length + users.length };
}

/** The entries that go to the store in one step. */
class EntriesStep {
  readonly entries: Partial<Record<ProjectionName, ProjectionEntry[]>> = {};
  count = 0;

  add(read: EntriesByProjection): void {
    for (const name of PROJECTION_NAMES) {
      const ofIt = read[name] ?? [];
      if (ofIt.length === 0) continue;
      const held = this.entries[name];
      if (held === undefined) this.entries[name] = [...ofIt];
      else held.push(...ofIt);
      this.count += ofIt.length;
    }
  }
}
