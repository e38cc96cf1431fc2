/**
 * The read model's database: the journals, and how far each topic was read. Synchronous, as SQLite is here: it runs on
 * a thread of its own (`store-worker.ts`), so that no disk holds up the API.
 *
 * Owns: the database, its file included, and the open transaction.
 * M1  What was read and how far is written in one transaction: whatever ends the process, reading goes on without a
 *     gap.
 * M2  Transactions span `COMMIT_ENTRIES` entries, or what came within `COMMIT_INTERVAL_MS`: committing each step would
 *     write each page of the indexes many times over. What a crash takes is read again.
 * M3  It is a cache (SC1 of `sqlite-cache.ts`).
 */
import type { DatabaseSync } from "node:sqlite";
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { DEFERRED_CAUSES } from "@posthaste/core/delivery/deferred-cause";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { OTHER } from "@posthaste/core/event/event";
import { UNROUTED_CAUSES } from "@posthaste/core/routing/routing";
import { DELIVERY_STATES } from "@posthaste/core/verdict/delivery-state";
import { openCache } from "../sqlite-cache.ts";
import { COUNTED_KINDS, REFUSED_KINDS } from "./activity-entry.ts";
import { DeliveryTable, type WaitingDeliveries } from "./delivery-table.ts";
import { DESTINATION_STATES } from "./destination-entry.ts";
import { type HealthOfMinute, type HealthQuery, type HealthRow, HealthTable } from "./health-table.ts";
import {
  type CountQuery,
  type FoundEntries,
  Journal,
  type JournalBounds,
  type JournalSearch,
  type KindCount,
  type MessageOutcome,
} from "./journal.ts";
import type { JournalEntry, JournalQuery } from "./journal-entry.ts";
import { REJECTED_KINDS } from "./rejected-call-entry.ts";

/** Raised with every change of the tables. */
const LAYOUT = 11;
const CACHE_KIB = 48 * 1024;
const COMMIT_ENTRIES = 5000;
const COMMIT_INTERVAL_MS = 1000;

const TABLES = `
  CREATE TABLE IF NOT EXISTS positions (
    journal TEXT NOT NULL, partition INTEGER NOT NULL, next INTEGER NOT NULL, PRIMARY KEY (journal, partition)
  ) WITHOUT ROWID, STRICT;
`;

/** The kinds of each journal's entries, with what stands for a word of a later release. */
export const JOURNALS = {
  attempts: [...ATTEMPT_OUTCOMES, OTHER],
  deferrals: [...DEFERRED_CAUSES, OTHER],
  dead_letters: [...DEAD_LETTER_REASONS, OTHER],
  unrouted: [...UNROUTED_CAUSES, OTHER],
  rejected_calls: REJECTED_KINDS,
  deliveries: DELIVERY_STATES,
  source_activity: COUNTED_KINDS,
  refused_requests: REFUSED_KINDS,
  destination_config: DESTINATION_STATES,
} as const;
export type JournalName = keyof typeof JOURNALS;
/** In the order of `JOURNALS`. */
export const JOURNAL_NAMES = Object.keys(JOURNALS) as readonly JournalName[];

/** One value for each journal. */
export function ofEach<T>(make: (name: JournalName) => T): Readonly<Record<JournalName, T>> {
  return Object.fromEntries(JOURNAL_NAMES.map((name) => [name, make(name)])) as Record<JournalName, T>;
}

export interface StoreOptions {
  /** The database's file; null for memory. */
  readonly path: string | null;
  /** Names the cluster and its topics, with their ids. */
  readonly identity: string;
  readonly bounds: Readonly<Record<JournalName, JournalBounds>>;
  /** Bounds where it is memory after all. */
  readonly memoryBounds: Readonly<Record<JournalName, JournalBounds>>;
}

/** The next offset to read of a partition. */
export interface Position {
  readonly partition: number;
  readonly next: number;
}

/** Entries by the journal that they are of: a topic may hold those of several. */
export type EntriesByJournal = Readonly<Partial<Record<JournalName, readonly JournalEntry[]>>>;

/** What was read of one partition of a journal's topic. */
export interface Taken extends Position {
  readonly entries: EntriesByJournal;
}

export interface StoreStart {
  /** Why the file was not used, or made anew; null when nothing is to be said. */
  readonly trouble: string | null;
  readonly positions: Readonly<Record<JournalName, readonly Position[]>>;
  readonly bounds: Readonly<Record<JournalName, JournalBounds>>;
}

export class Store {
  readonly #database: DatabaseSync;
  readonly #journals: Readonly<Record<JournalName, Journal>>;
  readonly #deliveries: DeliveryTable;
  readonly #health: HealthTable;
  readonly start: StoreStart;
  #uncommitted = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: StoreOptions, nowMs: () => number) {
    const { path, identity } = options;
    const cache = { path, identity, layout: LAYOUT, cacheKib: CACHE_KIB, tables: TABLES, holds: "the delivery log" };
    const { database, trouble, isFile } = openCache(cache);
    this.#database = database;
    const bounds = isFile ? options.bounds : options.memoryBounds;
    const optionsOf = (name: JournalName) => ({ name, kinds: JOURNALS[name], nowMs, ...bounds[name] });
    this.#deliveries = new DeliveryTable(database, optionsOf("deliveries"));
    this.#health = new HealthTable(database, nowMs);
    this.#journals = ofEach((name) =>
      name === "deliveries" ? this.#deliveries.journal : new Journal(database, optionsOf(name)),
    );
    this.start = { trouble, positions: ofEach((name) => this.#positions(name)), bounds };
  }

  /** M1. The position is that of the journal by whose name its topic is followed. */
  take(name: JournalName, { partition, next, entries }: Taken): void {
    this.#begin();
    for (const journal of JOURNAL_NAMES) {
      const ofIt = entries[journal] ?? [];
      if (ofIt.length > 0) (journal === "deliveries" ? this.#deliveries : this.#journals[journal]).add(ofIt);
      this.#uncommitted += ofIt.length;
    }
    this.#database.prepare("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)").run(name, partition, next);
    if (this.#uncommitted >= COMMIT_ENTRIES) this.commit();
  }

  newest(name: JournalName, query: JournalQuery): readonly JournalEntry[] {
    return this.#journals[name].newest(query);
  }

  search(name: JournalName, query: JournalSearch): FoundEntries {
    return this.#journals[name].search(query);
  }

  counts(name: JournalName, query: CountQuery): readonly KindCount[] {
    return this.#journals[name].counts(query);
  }

  outcomes(name: JournalName, messageIds: readonly string[]): readonly MessageOutcome[] {
    return this.#journals[name].outcomes(messageIds);
  }

  waiting(): readonly WaitingDeliveries[] {
    return this.#deliveries.waiting();
  }

  /** Up to when the health of destinations was written; null before the first minute. */
  get healthWrittenToMs(): number | null {
    return this.#health.writtenToMs;
  }

  addHealth(minute: HealthOfMinute): void {
    this.#begin();
    this.#health.add(minute);
  }

  health(query: HealthQuery): readonly HealthRow[] {
    return this.#health.rows(query);
  }

  commit(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#uncommitted = 0;
    this.#database.exec("COMMIT");
  }

  close(): void {
    this.commit();
    this.#database.close();
  }

  /** M2. A timer stands for as long as a transaction is open. */
  #begin(): void {
    if (this.#timer !== null) return;
    this.#database.exec("BEGIN");
    this.#timer = setTimeout(() => this.commit(), COMMIT_INTERVAL_MS);
  }

  #positions(name: JournalName): readonly Position[] {
    const rows = this.#database.prepare("SELECT partition, next FROM positions WHERE journal = ?").all(name);
    return rows.map((row) => ({ partition: Number(row["partition"]), next: Number(row["next"]) }));
  }
}
