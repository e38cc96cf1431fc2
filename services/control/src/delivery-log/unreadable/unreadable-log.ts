/**
 * Follows `posthaste.unreadable` for the newest records that were quarantined (UJ1 to UJ4 of unreadable-entries.ts).
 *
 * Owns: a reader for each partition.
 */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog, type LogReader } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { UnreadableEntries, type UnreadableEntry } from "./unreadable-entries.ts";

/** Places are some 100 bytes each; as many records are read of each partition at the start. */
const BOUNDS = { mostEntries: 10_000, mostPlaces: 100_000 };

export class UnreadableLog {
  readonly #connection: KafkaConnection;
  readonly #topic: string;
  readonly #entries = new UnreadableEntries(BOUNDS);
  #readers: readonly LogReader[] = [];
  #ends: readonly { readonly reader: LogReader; readonly end: number }[] = [];

  constructor(connection: KafkaConnection, topic: string) {
    this.#connection = connection;
    this.#topic = topic;
  }

  /** Resolves when the readers have begun. */
  async start(onFailure: (reason: Error) => void): Promise<void> {
    const offsets = await topicOffsets(this.#connection, this.#topic);
    const onRecords = (records: readonly IncomingRecord[]) => {
      for (const record of records) this.#entries.take(record);
    };
    this.#ends = await Promise.all(
      offsets.map(async ({ partition, end }) => {
        const place = { topic: this.#topic, partition, from: Math.max(0, end - BOUNDS.mostPlaces) };
        return { reader: await followLog(this.#connection, { ...place, onRecords, onFailure }), end };
      }),
    );
    this.#readers = this.#ends.map(({ reader }) => reader);
  }

  /** Resolves when the readers have read every record that stood in the topic at the start. */
  async caughtUp(): Promise<void> {
    await Promise.all(this.#ends.map(({ reader, end }) => reader.reached(end)));
  }

  /**
   * Resolves when the readers have read every record that stands in the topic now; rejects with `deadline_exceeded`
   * when that takes longer than `timeoutMs`.
   */
  async refresh(timeoutMs: number): Promise<void> {
    const offsets = await topicOffsets(this.#connection, this.#topic);
    await Promise.all(offsets.map(({ partition, end }) => this.#readers[partition]?.reached(end, timeoutMs)));
  }

  has(place: string): boolean {
    return this.#entries.has(place);
  }

  /** Newest first; entries of one moment by their places. */
  entries(): readonly UnreadableEntry[] {
    return this.#entries.list();
  }

  /** Drops an entry whose record is no longer in the topic. */
  drop(entry: UnreadableEntry): void {
    this.#entries.drop(entry);
  }

  async close(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.close()));
  }
}
