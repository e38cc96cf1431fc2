/**
 * The read model's database: the projections, and the position up to which each topic was read. Its calls are
 * synchronous, as SQLite is here; it runs on a thread of its own (`store-worker.ts`), so that no disk holds up the API.
 *
 * Owns: the database with its file, and the open transaction.
 * M1  The entries and the position up to which they were read are written in one transaction: whatever ends the
 *     process, reading goes on without a gap.
 * M2  A transaction spans `COMMIT_ENTRIES` entries, or the entries of `COMMIT_INTERVAL_MS`: committing each step would
 *     write each page of the indexes many times over. Entries lost in a crash are read again.
 * M3  The database is a cache (SC1 of `sqlite-cache.ts`).
 * M4  For each partition of the dead letters, the store keeps the offset from which on every record has its entry: an
 *     entry that is dropped or too old to be added, and a record that became no entry, raise it. Plans count dead
 *     letters by it.
 */
import type { DatabaseSync } from "node:sqlite";
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { DEFERRED_CAUSES } from "@posthaste/core/delivery/deferred-cause";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { OTHER } from "@posthaste/core/event/event";
import { UNROUTED_CAUSES } from "@posthaste/core/routing/routing";
import { DELIVERY_STATES } from "@posthaste/core/verdict/delivery-state";
import { COUNTED_KINDS, REFUSED_KINDS } from "./activity-entry.ts";
import type { DeadLetterHour, DeadLetterHourQuery, DeadLetterTotals } from "./dead-letter-hours.ts";
import type { DeadLetterRows, DeadLetterRowsQuery, GroupedDeadLetters } from "./dead-letter-rows.ts";
import { DeadLetterTable } from "./dead-letter-table.ts";
import { DeliveryTable } from "./delivery-table.ts";
import { DESTINATION_STATES } from "./destination-entry.ts";
import type { GroupCounts, GroupCountsQuery } from "./group-counts.ts";
import { type HealthOfMinute, type HealthQuery, type HealthRow, HealthTable } from "./health-table.ts";
import { type LastAttempts, LastAttemptsQuery } from "./last-attempts.ts";
import {
  type CountQuery,
  type FoundEntries,
  type KindCount,
  type MessageOutcome,
  Projection,
  type ProjectionBounds,
  type ProjectionSearch,
} from "./projection.ts";
import type { ProjectionCursor, ProjectionEntry, ProjectionQuery } from "./projection-entry.ts";
import { type NewestReceipt, type ReceivedEntries, ReceivedEvents, type ReceivedQuery } from "./received-events.ts";
import { REJECTED_KINDS } from "./rejected-call-entry.ts";
import { openCache } from "./sqlite-cache.ts";

/** Raised with every change of the tables. */
const LAYOUT = 21;
const CACHE_KIB = 24 * 1024;
const COMMIT_ENTRIES = 20_000;
const COMMIT_INTERVAL_MS = 1000;

const TABLES = `
  CREATE TABLE IF NOT EXISTS positions (
    journal TEXT NOT NULL, partition INTEGER NOT NULL, next INTEGER NOT NULL, held_from INTEGER NOT NULL,
    PRIMARY KEY (journal, partition)
  ) WITHOUT ROWID, STRICT;
`;

/** The kinds of each projection's entries; `OTHER` stands for a kind of a later release. */
export const PROJECTIONS = {
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
export type ProjectionName = keyof typeof PROJECTIONS;
/** The projections' names, in the order of `PROJECTIONS`. */
export const PROJECTION_NAMES = Object.keys(PROJECTIONS) as readonly ProjectionName[];

/** The projections that are listed by receipt too. */
export const RECEIVED_PROJECTIONS = ["deliveries", "unrouted", "rejected_calls"] as const;
export type ReceivedProjection = (typeof RECEIVED_PROJECTIONS)[number];

const DEAD_LETTERS: ProjectionName = "dead_letters";

/** One value for each projection. */
export function ofEach<T>(make: (name: ProjectionName) => T): Readonly<Record<ProjectionName, T>> {
  return Object.fromEntries(PROJECTION_NAMES.map((name) => [name, make(name)])) as Record<ProjectionName, T>;
}

export interface StoreOptions {
  /** The database's file; null for memory. */
  readonly path: string | null;
  /** Names the cluster and its topics, with their ids. */
  readonly identity: string;
  readonly bounds: Readonly<Record<ProjectionName, ProjectionBounds>>;
  /** The bounds where the store ends up in memory. */
  readonly memoryBounds: Readonly<Record<ProjectionName, ProjectionBounds>>;
}

/** The next offset to read of a partition. */
export interface Position {
  readonly partition: number;
  readonly next: number;
}

/** Entries by their projection: a topic may fill several. */
export type EntriesByProjection = Readonly<Partial<Record<ProjectionName, readonly ProjectionEntry[]>>>;

/** A range of a partition in which every record has its entry: from `from` up to, and without, `next`. */
export interface HeldRange extends Position {
  readonly from: number;
}

/** The entries that a follower read from one partition of a projection's topic. */
export interface Taken extends Position {
  /** The offset after the last record that was passed over, or became no entry of the projection; 0 for none. */
  readonly passedTo: number;
  readonly entries: EntriesByProjection;
}

export interface StoreStart {
  /** Why the file was not used, or was made anew; null where neither happened. */
  readonly trouble: string | null;
  readonly positions: Readonly<Record<ProjectionName, readonly Position[]>>;
  readonly bounds: Readonly<Record<ProjectionName, ProjectionBounds>>;
}

export class Store {
  readonly #database: DatabaseSync;
  readonly #projections: Readonly<Record<ProjectionName, Projection>>;
  readonly deliveries: DeliveryTable;
  readonly #deadLetters: DeadLetterTable;
  readonly #health: HealthTable;
  readonly #lastAttempts: LastAttemptsQuery;
  readonly #received: Readonly<Record<ReceivedProjection, ReceivedEvents>>;
  readonly start: StoreStart;
  /** M4: for each partition of the dead letters' topic, the offset from which on every record has its entry. */
  readonly #deadLettersFrom = new Map<number, number>();
  readonly #raised = new Set<number>();
  #uncommitted = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: StoreOptions, nowMs: () => number) {
    const { path, identity } = options;
    const cache = { path, identity, layout: LAYOUT, cacheKib: CACHE_KIB, tables: TABLES, holds: "the delivery log" };
    const { database, trouble, isFile } = openCache(cache);
    this.#database = database;
    const bounds = isFile ? options.bounds : options.memoryBounds;
    const optionsOf = (name: ProjectionName) => ({ name, kinds: PROJECTIONS[name], nowMs, ...bounds[name] });
    this.deliveries = new DeliveryTable(database, optionsOf("deliveries"));
    this.#health = new HealthTable(database, nowMs);
    const onNotHeld = ({ partition, offset }: ProjectionCursor) => this.#raise(partition, offset + 1);
    const attempts = new Projection(database, optionsOf("attempts"));
    this.#lastAttempts = new LastAttemptsQuery(database, optionsOf("attempts"));
    const attemptsSince = (deadLetter: ProjectionEntry) => attempts.since(deadLetter);
    this.#deadLetters = new DeadLetterTable(database, { ...optionsOf(DEAD_LETTERS), onNotHeld, attemptsSince });
    this.#projections = ofEach((name) => {
      if (name === "attempts") return attempts;
      if (name === "deliveries") return this.deliveries.projection;
      return name === DEAD_LETTERS ? this.#deadLetters.projection : new Projection(database, optionsOf(name));
    });
    const receivedOf = (name: ReceivedProjection) =>
      new ReceivedEvents(database, this.#projections[name].messages, optionsOf(name));
    const [deliveries, unrouted, rejected] = RECEIVED_PROJECTIONS;
    this.#received = {
      ...{ deliveries: receivedOf(deliveries), unrouted: receivedOf(unrouted), rejected_calls: receivedOf(rejected) },
    };
    for (const { partition, from } of this.heldDeadLetters()) this.#deadLettersFrom.set(partition, from);
    this.start = { trouble, positions: ofEach((name) => this.#positions(name)), bounds };
  }

  /** M1. The position is kept under the name of the projection by which the topic is followed. */
  take(name: ProjectionName, { partition, next, passedTo, entries }: Taken): void {
    this.#begin();
    for (const projection of PROJECTION_NAMES) {
      const ofIt = entries[projection] ?? [];
      if (ofIt.length > 0) this.#tableOf(projection).add(ofIt);
      this.#uncommitted += ofIt.length;
    }
    this.#deadLetters.noteAttempts(entries.attempts ?? []);
    const isDeadLetters = name === DEAD_LETTERS;
    if (isDeadLetters) this.#raise(partition, passedTo);
    const from = isDeadLetters ? (this.#deadLettersFrom.get(partition) ?? 0) : 0;
    this.#database.prepare("INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?)").run(name, partition, next, from);
    this.#writeRaised();
    if (this.#uncommitted >= COMMIT_ENTRIES) this.commit();
  }

  /** LM3 of dead-letter-mark.ts. */
  noteSent(places: readonly ProjectionCursor[]): void {
    this.#begin();
    this.#deadLetters.noteSent(places);
  }

  newest(name: ProjectionName, query: ProjectionQuery): readonly ProjectionEntry[] {
    return this.#projections[name].newest(query);
  }

  search(name: ProjectionName, query: ProjectionSearch): FoundEntries {
    return this.#projections[name].search(query);
  }

  /** M4. */
  heldDeadLetters(): readonly HeldRange[] {
    const rows = this.#database
      .prepare("SELECT partition, next, held_from FROM positions WHERE journal = ?")
      .all(DEAD_LETTERS);
    return rows.map((row) => ({
      ...{ partition: Number(row["partition"]), next: Number(row["next"]), from: Number(row["held_from"]) },
    }));
  }

  deadLetterHours(query: DeadLetterHourQuery): readonly DeadLetterHour[] {
    return this.#deadLetters.hours(query);
  }

  deadLetterTotals(destinationId: string): DeadLetterTotals {
    return this.#deadLetters.totals(destinationId);
  }

  groupedDeadLetters(): readonly GroupedDeadLetters[] {
    return this.#deadLetters.rows.groups();
  }

  deadLetterEvent(event: string): number | null {
    return this.#deadLetters.rows.eventId(event);
  }

  deadLetterRows(query: DeadLetterRowsQuery): DeadLetterRows {
    return this.#deadLetters.rows.rows(query);
  }

  groupCounts(query: GroupCountsQuery): GroupCounts | null {
    return this.#deadLetters.groups.counts(query);
  }

  at(name: ProjectionName, places: readonly ProjectionCursor[]): readonly ProjectionEntry[] {
    return this.#projections[name].at(places);
  }

  counts(name: ProjectionName, query: CountQuery): readonly KindCount[] {
    return this.#projections[name].counts(query);
  }

  outcomes(name: ProjectionName, messageIds: readonly string[]): readonly MessageOutcome[] {
    return this.#projections[name].outcomes(messageIds);
  }

  received(name: ReceivedProjection, query: ReceivedQuery): ReceivedEntries {
    return this.#received[name].page(query);
  }

  newestReceipts(
    name: ReceivedProjection,
    ...asked: readonly [messageIds: readonly string[], texts: readonly string[], untilMs: number]
  ): readonly NewestReceipt[] {
    return this.#received[name].newest(...asked);
  }

  lastAttempts(destinationIds: readonly string[]): readonly LastAttempts[] {
    return this.#lastAttempts.of(destinationIds);
  }

  /** The time up to which the health of destinations is written; null before the first minute. */
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

  #tableOf(name: ProjectionName): Pick<Projection, "add"> {
    if (name === "deliveries") return this.deliveries;
    return name === DEAD_LETTERS ? this.#deadLetters : this.#projections[name];
  }

  /** M2. A timer is set for as long as a transaction is open. */
  #begin(): void {
    if (this.#timer !== null) return;
    this.#database.exec("BEGIN");
    this.#timer = setTimeout(() => this.commit(), COMMIT_INTERVAL_MS);
  }

  /** M4. */
  #raise(partition: number, from: number): void {
    if (from <= (this.#deadLettersFrom.get(partition) ?? 0)) return;
    this.#deadLettersFrom.set(partition, from);
    this.#raised.add(partition);
  }

  #writeRaised(): void {
    if (this.#raised.size === 0) return;
    const raise = this.#database.prepare("UPDATE positions SET held_from = ? WHERE journal = ? AND partition = ?");
    for (const partition of this.#raised) raise.run(this.#deadLettersFrom.get(partition) ?? 0, DEAD_LETTERS, partition);
    this.#raised.clear();
  }

  #positions(name: ProjectionName): readonly Position[] {
    const rows = this.#database.prepare("SELECT partition, next FROM positions WHERE journal = ?").all(name);
    return rows.map((row) => ({ partition: Number(row["partition"]), next: Number(row["next"]) }));
  }
}
