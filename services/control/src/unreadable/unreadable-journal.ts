/**
 * The newest records of `posthaste.unreadable`, in memory.
 *
 * Owns: a reader for each partition, and an entry for each of the newest records put aside.
 * UJ1  A record that was put aside twice, by two processes or after a restart, is one entry, named by the place from
 *      which it was read.
 * UJ2  The journal holds the newest `MOST_ENTRIES` entries; older records stay in the topic.
 * UJ3  The topic itself marks a record that was produced again, so that every control process knows of it, after a
 *      restart too.
 */
import { headerText, type IncomingHeaders } from "@posthaste/contracts/headers";
import { decodeUnreadable, type Unreadable } from "@posthaste/contracts/unreadable-headers";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog, type LogReader } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

const MOST_ENTRIES = 10_000;

/** The header of a mark (UJ3): the place of the record that was produced again, as `placeOf` writes it. */
export const REPRODUCED_HEADER = "reproduced";

export interface UnreadableEntry extends Unreadable {
  /** The partition and offset of the record in `posthaste.unreadable`. */
  readonly at: { readonly partition: number; readonly offset: number };
  /** The bytes of its value; null where the value was left out, or there was none. */
  readonly bytes: number | null;
  readonly isReproduced: boolean;
}

/** The fields that order the list. */
export type EntryName = Pick<UnreadableEntry, "topic" | "partition" | "offset" | "atMs">;

/** topic/partition/offset. */
export function placeOf({ topic, partition, offset }: Pick<Unreadable, "topic" | "partition" | "offset">): string {
  return `${topic}/${partition}/${offset}`;
}

/** The order of the list. */
export function newestFirst(a: EntryName, b: EntryName): number {
  if (a.atMs !== b.atMs) return b.atMs - a.atMs;
  const [placeA, placeB] = [placeOf(a), placeOf(b)];
  if (placeA === placeB) return 0;
  return placeA < placeB ? -1 : 1;
}

export class UnreadableJournal {
  readonly #connection: KafkaConnection;
  readonly #topic: string;
  readonly #entries = new Map<string, UnreadableEntry>();
  #readers: readonly LogReader[] = [];
  #ends: readonly { readonly reader: LogReader; readonly end: number }[] = [];

  constructor(connection: KafkaConnection, topic: string) {
    this.#connection = connection;
    this.#topic = topic;
  }

  /** Resolves when the readers have begun. */
  async start(onFailure: (reason: Error) => void): Promise<void> {
    const offsets = await topicOffsets(this.#connection, this.#topic);
    this.#ends = await Promise.all(
      offsets.map(async ({ partition, end }) => {
        const from = Math.max(0, end - MOST_ENTRIES);
        const onRecords = (records: readonly IncomingRecord[]) => this.#take(records);
        const place = { topic: this.#topic, partition, from };
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

  /** Newest first; those of one moment by their places. */
  entries(): readonly UnreadableEntry[] {
    return [...this.#entries.values()].sort(newestFirst);
  }

  /** Drops an entry whose record is no longer in the topic. */
  drop(entry: UnreadableEntry): void {
    this.#entries.delete(placeOf(entry));
  }

  async close(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.close()));
  }

  #take(records: readonly IncomingRecord[]): void {
    for (const { partition, offset, value, headers } of records) {
      if (this.#takeMark(headers)) continue;
      const unreadable = decodeUnreadable(headers);
      if (unreadable === null) continue;
      const place = placeOf(unreadable);
      if (this.#entries.has(place)) continue;
      const bytes = unreadable.isValueLeftOut || value === null ? null : value.length;
      this.#entries.set(place, { ...unreadable, at: { partition, offset }, bytes, isReproduced: false });
      this.#dropOldest();
    }
  }

  /** UJ3. */
  #takeMark(headers: IncomingHeaders): boolean {
    const place = headerText(headers, REPRODUCED_HEADER);
    if (place === undefined) return false;
    const entry = this.#entries.get(place);
    if (entry !== undefined) this.#entries.set(place, { ...entry, isReproduced: true });
    return true;
  }

  /** UJ2. */
  #dropOldest(): void {
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}
