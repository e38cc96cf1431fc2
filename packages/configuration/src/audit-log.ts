/**
 * The audit as readers see it: its newest entries from memory, older ones from the topic when somebody asks so far
 * back.
 *
 * Owns: a reader of the topic, and at least the `HELD` newest entries.
 * - Entries have the topic's order; a page names its end by an offset.
 * AU2  A query looks through at most `MOST_READ` entries, and says how far back it came.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import type { Freshness } from "@posthaste/core/freshness";
import type { Clock } from "@posthaste/core/time";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readRange } from "@posthaste/kafka/log/read-range";
import type { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import { TopicReaders } from "@posthaste/kafka/log/topic-readers";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

const HELD = 10_000;
const MOST_READ = 20_000;
/** How many older entries are read from the topic at a time. */
const STEP = 2000;

export interface HeldEntry extends AuditEntry {
  readonly offset: number;
}

export interface AuditQuery {
  readonly limit: number;
  /** Only entries below this offset; undefined from the newest on. */
  readonly below?: number | undefined;
  readonly fits: (entry: HeldEntry) => boolean;
  /** The most entries that are looked through; as many as any query may, where it is absent. */
  readonly most?: number | undefined;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly HeldEntry[];
  /** The offset below which the next page begins; null on the last page. */
  readonly below: number | null;
  /** The time of the entry at which the search ended early; null when it did not. */
  readonly searchedToMs: number | null;
  /** True while the topic's retention has removed no entry. */
  readonly isWhole: boolean;
  readonly freshness: Freshness;
}

export interface AuditLogOptions {
  readonly topic: string;
  readonly codec: Codec<AuditEntry>;
  readonly clock: Clock;
  /** Called when the topic cannot be followed any more. */
  readonly onFailure: (reason: Error) => void;
  /** Gets each entry as it is read, for the live stream. */
  readonly recent?: RecentEntries<HeldEntry>;
  /** The least number of entries in memory, and the most that a query looks through; for tests. */
  readonly bounds?: { readonly held: number; readonly mostRead: number };
}

/** About how many bytes an entry takes. */
const ENTRY_BYTES = 500;

/** The most bytes of one fetch. */
const MAX_BYTES = 4_000_000;

const NOTHING = { start: 0, end: 0 };

export class AuditLog {
  readonly #connection: KafkaConnection;
  readonly #options: AuditLogOptions;
  readonly #bounds: { readonly held: number; readonly mostRead: number };
  /** The newest entries, in the topic's order. */
  #held: HeldEntry[] = [];
  readonly #readers: TopicReaders;
  readonly #closing = new AbortController();

  /** Starts to read the topic. */
  constructor(connection: KafkaConnection, options: AuditLogOptions) {
    this.#connection = connection;
    this.#options = options;
    const bounds = options.bounds ?? { held: HELD, mostRead: MOST_READ };
    this.#bounds = bounds;
    const { topic, recent } = options;
    this.#readers = new TopicReaders(connection, {
      ...{ topic, topicId: null, maxBytes: MAX_BYTES, message: "the audit is behind" },
      from: ({ start, end }) => {
        const from = Math.max(start, end - bounds.held);
        recent?.begin(0, from);
        recent?.sawEnd(0, end);
        return from;
      },
      onRecords: (_, records) => this.#take(records),
      onFailure: (reason, partition) => {
        if (partition !== null) options.onFailure(reason);
      },
    });
  }

  /** The freshness of the entries that the reader has read by itself; `page` reads to the topic's end first. */
  get freshness(): Freshness {
    const { asOfMs } = this.#readers;
    return { asOfMs, complete: asOfMs !== null };
  }

  /** A page of the entries that are in the topic now. Rejects with `deadline_exceeded`. */
  async page({ limit, below, fits, most }: AuditQuery, timeoutMs: number): Promise<AuditPage> {
    const fresh = { asOfMs: this.#options.clock.nowMs(), complete: true };
    const [{ start, end } = NOTHING] = await this.#readers.refresh(timeoutMs);
    const read = { isWhole: start === 0, freshness: fresh };
    const entries: HeldEntry[] = [];
    const mostRead = Math.min(most ?? Number.POSITIVE_INFINITY, this.#bounds.mostRead);
    let looked = 0;
    for await (const entry of this.#newestFirst(Math.min(below ?? end, end), start)) {
      looked += 1;
      if (fits(entry)) {
        // One entry more than the page shows tells whether there is another page.
        const last = entries.at(-1);
        if (entries.length === limit && last !== undefined) {
          return { entries, below: last.offset, searchedToMs: null, ...read };
        }
        entries.push(entry);
      }
      if (looked === mostRead) {
        return { entries, below: entry.offset, searchedToMs: entry.atMs, ...read };
      }
    }
    return { entries, below: null, searchedToMs: null, ...read };
  }

  /** Resolves when the newest entries of this moment are held. */
  caughtUp(): Promise<void> {
    return this.#readers.caughtUp;
  }

  close(): void {
    this.#closing.abort();
    this.#readers.close();
  }

  async #take(records: readonly IncomingRecord[]): Promise<void> {
    const entries = await this.#entriesOf(records);
    const read = entries.map((entry) => ({ offset: entry.offset, place: 0, value: entry, bytes: ENTRY_BYTES }));
    const next = (records.at(-1)?.offset ?? -1) + 1;
    this.#options.recent?.add(0, next, read);
    const taken = [...this.#held, ...entries];
    this.#held = taken.length > 2 * this.#bounds.held ? taken.slice(-this.#bounds.held) : taken;
  }

  async *#newestFirst(below: number, start: number): AsyncGenerator<HeldEntry> {
    const held = this.#held;
    const oldest = held[0]?.offset ?? below;
    for (const entry of held.toReversed()) if (entry.offset < below) yield entry;
    for (let to = Math.min(below, oldest); to > start; to -= STEP) {
      yield* (await this.#read(Math.max(start, to - STEP), to)).reverse();
    }
  }

  /** Reads the entries from one offset up to, not including, another. */
  async #read(from: number, to: number): Promise<HeldEntry[]> {
    const found: HeldEntry[] = [];
    const range = { topic: this.#options.topic, partition: 0, start: from, end: to };
    for await (const records of readRange(this.#connection, range, this.#closing.signal)) {
      found.push(...(await this.#entriesOf(records)));
    }
    return found;
  }

  /** Decodes entries. A record that cannot be read is passed over, since it tells nobody anything. */
  async #entriesOf(records: readonly IncomingRecord[]): Promise<readonly HeldEntry[]> {
    const { codec } = this.#options;
    const entries: HeldEntry[] = [];
    for (const { value, offset } of records) {
      if (value === null) continue;
      await codec.prefetch(value)?.catch(() => undefined);
      const entry = decodeOrReason(codec, value);
      if (entry instanceof Error) continue;
      entries.push({
        ...{ offset, atMs: entry.atMs, actor: entry.actor, tokenId: entry.tokenId, way: entry.way },
        ...{ operation: entry.operation, target: entry.target, requestId: entry.requestId },
        revision: entry.revision,
        changes: entry.changes.map(({ field, from, to }) => ({ field, from, to })),
      });
    }
    return entries;
  }
}
