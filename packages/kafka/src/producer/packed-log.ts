/**
 * A log whose entries are packed, many into a record, since a produced record costs about as much as a POST.
 *
 * Owns: the entries that are not flushed yet, by key, and a timer that runs only while there are some. The producer
 * belongs to the caller.
 * PK1  Nothing waits for an entry to be written: the reported event may be finished before.
 * PK2  While more than `maxPendingBytes` wait in the producer, entries are counted and dropped.
 * PK3  One flush makes one record for each key.
 */
import type { Producer } from "./producer.ts";

export interface PackedLogOptions<E, K extends string | null> {
  readonly producer: Pick<Producer, "pendingBytes" | "send">;
  readonly topic: string;
  /** Makes the value of a record from its entries. */
  readonly encode: (entries: readonly E[], key: K) => Buffer;
  /** The longest time that an entry waits before it goes to the producer, in ms. */
  readonly flushIntervalMs: number;
  /** A key's entries go at once when there are this many, or when their lengths add up to `flushLength`. */
  readonly flushEntries: number;
  /** In the unit of the lengths that `add` gets. */
  readonly flushLength: number;
  readonly maxPendingBytes: number;
  /** This many entries were dropped: by the producer's error, or, when `error` is null, by PK2. */
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

  /** Adds an entry of this length. `key` becomes the key of the record; null makes a record without one. */
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
   * Passes every entry to the producer before it returns, and resolves when all were written or dropped. That may take
   * for ever, so close the producer at the same time, which has a deadline.
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
