/**
 * The audit as it is read: its newest entries in memory, older ones from the topic when somebody asks so far back.
 *
 * Owns: a reader of the topic, and its newest entries, `HELD` of them at least.
 * AU1  Entries have the topic's order; a page names its end by the offset.
 * AU2  A question looks through `MOST_READ` entries at the most, and says how far back that was.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { AuditEntry } from "@posthaste/core/access/audit-entry";
import type { Clock } from "@posthaste/core/time";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog, type LogReader } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { type Freshness, freshAsOf } from "../http/freshness.ts";
import type { RecentEntries } from "../recent-entries.ts";

const HELD = 10_000;
const MOST_READ = 20_000;
/** Of older entries, read from the topic at a time. */
const STEP = 2000;

export interface HeldEntry extends AuditEntry {
  readonly offset: number;
}

export interface AuditQuery {
  readonly limit: number;
  /** Entries below this offset; the newest ones when undefined. */
  readonly below?: number | undefined;
  readonly fits: (entry: HeldEntry) => boolean;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly HeldEntry[];
  /** Where the next page begins; null on the last. */
  readonly below: number | null;
  /** The page ended early, at the entry of this moment; null for any other. */
  readonly searchedToMs: number | null;
  readonly freshness: Freshness;
}

export interface AuditJournalOptions {
  readonly topic: string;
  readonly codec: Codec<AuditEntry>;
  readonly clock: Clock;
  /** The topic cannot be followed any more. */
  readonly onFailure: (reason: Error) => void;
  /** Has each entry as it is read. */
  readonly recent?: RecentEntries<HeldEntry>;
  /** How many entries are in memory at least, and looked through at the most; for tests. */
  readonly bounds?: { readonly held: number; readonly mostRead: number };
}

/** What an entry takes, about. */
const ENTRY_BYTES = 500;

const NOTHING = { start: 0, end: 0 };

export class AuditJournal {
  readonly #connection: KafkaConnection;
  readonly #options: AuditJournalOptions;
  readonly #bounds: { readonly held: number; readonly mostRead: number };
  /** In the topic's order. */
  #held: HeldEntry[] = [];
  #reader: LogReader | null = null;
  /** When the topic was read to its end, the last time. */
  #asOfMs: number | null = null;

  constructor(connection: KafkaConnection, options: AuditJournalOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#bounds = options.bounds ?? { held: HELD, mostRead: MOST_READ };
  }

  /** Resolves when the reading began. */
  async start(): Promise<void> {
    const { topic, onFailure, recent } = this.#options;
    const { start, end } = await this.#offsets();
    const from = Math.max(start, end - this.#bounds.held);
    recent?.begin(0, from);
    recent?.sawEnd(0, end);
    this.#reader = await followLog(this.#connection, {
      ...{ topic, partition: 0, from, onFailure },
      onRecords: (records) => this.#take(records),
      onFetched: ({ position, end: endThen, askedAt }) => {
        if (position >= endThen) this.#asOfMs = askedAt.wallMs;
      },
    });
  }

  /** Of what was read by itself: see `page` for what stands in the topic now. */
  get freshness(): Freshness {
    return freshAsOf(this.#asOfMs, this.#asOfMs !== null);
  }

  /** Of what stands in the topic now. Rejects with `deadline_exceeded`. */
  async page({ limit, below, fits }: AuditQuery, timeoutMs: number): Promise<AuditPage> {
    const freshness = freshAsOf(this.#options.clock.nowMs(), true);
    const { start, end } = await this.#offsets();
    await this.#reader?.reached(end, timeoutMs);
    const entries: HeldEntry[] = [];
    let looked = 0;
    for await (const entry of this.#newestFirst(below ?? end, start)) {
      looked += 1;
      if (fits(entry)) {
        // One more than is shown tells whether there is another page.
        const last = entries.at(-1);
        if (entries.length === limit && last !== undefined) {
          return { entries, below: last.offset, searchedToMs: null, freshness };
        }
        entries.push(entry);
      }
      if (looked === this.#bounds.mostRead) {
        return { entries, below: entry.offset, searchedToMs: entry.atMs, freshness };
      }
    }
    return { entries, below: null, searchedToMs: null, freshness };
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }

  async #offsets(): Promise<{ readonly start: number; readonly end: number }> {
    const [offsets = NOTHING] = await topicOffsets(this.#connection, this.#options.topic);
    return offsets;
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

  /** Entries from one offset on, up to another. */
  async #read(from: number, to: number): Promise<HeldEntry[]> {
    const found: HeldEntry[] = [];
    const failed = Promise.withResolvers<never>();
    const reader = await followLog(this.#connection, {
      ...{ topic: this.#options.topic, partition: 0, from },
      onRecords: async (records) => {
        found.push(...(await this.#entriesOf(records.filter(({ offset }) => offset < to))));
      },
      onFailure: failed.reject,
    });
    try {
      await Promise.race([reader.reached(to), failed.promise]);
    } finally {
      await reader.close();
    }
    return found;
  }

  /** What cannot be read is passed over: it says nothing to anybody. */
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
        changes: entry.changes.map(({ field, from, to }) => ({ field, from, to })),
      });
    }
    return entries;
  }
}
