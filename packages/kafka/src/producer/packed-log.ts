/**
 * A log whose entries are packed, many to a record, since a produced record costs about what a POST costs.
 *
 * Owns: the entries that are not flushed yet, by key, and a timer that runs only while there are some; the producer is
 * its caller's.
 * PK1  Nothing waits for it: whatever an entry tells of may be finished before the entry is written.
 * PK2  At most `maxPendingBytes` wait for the brokers; entries beyond that are counted and dropped.
 * PK3  One flush makes one record of a key.
 */
import type { Producer } from "./producer.ts";

export interface PackedLogOptions<E, K extends string | null> {
  readonly producer: Pick<Producer, "pendingBytes" | "send">;
  readonly topic: string;
  /** The value of a record that holds these entries. */
  readonly encode: (entries: readonly E[], key: K) => Buffer;
  /** No entry waits longer before it goes to the producer. */
  readonly flushIntervalMs: number;
  /** A key's entries go at once when they are so many, or when their lengths come to `flushLength`. */
  readonly flushEntries: number;
  /** In the unit of the lengths that `add` is told. */
  readonly flushLength: number;
  readonly maxPendingBytes: number;
  /** So many entries were dropped, with the producer's error, or null when too much waits for the brokers (PK2). */
  readonly onDropped: (entries: number, error: unknown) => void;
}

interface Unflushed<E> {
  readonly entries: E[];
  length: number;
}

export class PackedLog<E, K extends string | null> {
  readonly #options: PackedLogOptions<E, K>;
  readonly #unflushed = new Map<K, Unflushed<E>>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<unknown> = Promise.resolve();

  constructor(options: PackedLogOptions<E, K>) {
    this.#options = options;
  }

  /** Adds an entry of this length to those of the key, which is the record's; null for records without one. */
  add(key: K, entry: E, length = 0): void {
    let unflushed = this.#unflushed.get(key);
    if (unflushed === undefined) {
      unflushed = { entries: [], length: 0 };
      this.#unflushed.set(key, unflushed);
    }
    unflushed.entries.push(entry);
    unflushed.length += length;
    const { flushEntries, flushLength, flushIntervalMs } = this.#options;
    if (unflushed.entries.length >= flushEntries || unflushed.length >= flushLength) this.#flushKey(key, unflushed);
    else this.#timer ??= setTimeout(() => this.#flush(), flushIntervalMs);
  }

  /**
   * Hands every entry to the producer before it returns, and resolves when they were written or dropped. The producer
   * must be closed beside it, for that has an end.
   */
  async close(): Promise<void> {
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [key, unflushed] of this.#unflushed) this.#flushKey(key, unflushed);
  }

  #flushKey(key: K, { entries }: Unflushed<E>): void {
    this.#unflushed.delete(key);
    const { producer, topic, encode, maxPendingBytes, onDropped } = this.#options;
    if (producer.pendingBytes > maxPendingBytes) {
      onDropped(entries.length, null);
      return;
    }
    const sent = producer.send([{ topic, key, value: encode(entries, key) }]);
    const settled = sent.catch((error: unknown) => onDropped(entries.length, error));
    this.#sending = Promise.all([this.#sending, settled]);
  }
}
