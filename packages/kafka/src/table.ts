/** The joined table: a compacted topic of one partition as a map in memory. */
import type { KafkaConnection } from "./connect.ts";

export interface Table<T> {
  get(key: string): T | undefined;
  entries(): Iterable<[string, T]>;
  readonly size: number;
  /** Offset of the last record that was read; -1 before the first. */
  readonly appliedOffset: number;
  /** Resolves when everything that stood in the topic when the table was made has been read. */
  caughtUp(): Promise<void>;
  /** Resolves when everything that stands in the topic now has been read. Rejects with `deadline_exceeded`. */
  refresh(timeoutMs: number): Promise<void>;
  /** Resolves when the table holds this revision of the key, or a later one. Rejects with `deadline_exceeded`. */
  waitForRevision(key: string, revision: number, timeoutMs: number): Promise<void>;
  /** Resolves when the table has read this offset. Rejects with `deadline_exceeded`. */
  waitForOffset(offset: number, timeoutMs: number): Promise<void>;
  /** Revision held for a key, that of its removal included; undefined when it was never seen. */
  revisionOf(key: string): number | undefined;
  close(): Promise<void>;
}

export interface TableOptions<T> {
  readonly topic: string;
  readonly decode: (bytes: Buffer) => T;
  /** Called before `decode`; see Codec. */
  readonly learn?: (bytes: Buffer) => Promise<void> | undefined;
  /** Called after each change, in offset order, from the first record of the topic on; `undefined` is a removal. */
  readonly onChange?: (key: string, value: T | undefined, offset: number) => void;
  /** A record with a lower revision than the held one was ignored; the writer of the topic writes the newest again (P5). */
  readonly onStale?: (key: string, seenRevision: number) => void;
}

/** Resolves when the topic's partition was found and its reading began. Rejects with `topic_missing`. */
export function createTable<T>(_connection: KafkaConnection, _options: TableOptions<T>): Promise<Table<T>> {
  throw new Error("not written");
}
