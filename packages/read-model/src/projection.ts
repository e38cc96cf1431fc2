/**
 * A projection: one table of the read model, whose entries are listed newest first.
 *
 * Owns: its table and indexes, in its caller's database.
 * JN1  An entry is named by where it stands in its topic: partition, offset, place in the record. Adding it again
 *      changes nothing.
 * JN2  The order is time, then that name. It is the same in every process and after every rebuild, so a cursor outlives
 *      both.
 * JN3  It holds the newest `maxEntries` at the most, and shows nothing older than `keepMs`.
 * JN4  Every page is read along an index: its cost does not depend on the number of entries held. Only counting reads
 *      each index entry that it counts, and a page of one message sorts that message's entries. The entries of one
 *      delivery are found by message and destination (message-index.ts): an event may have any number of destinations.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { MessageIndex } from "./message-index.ts";
import type { ProjectionEntry, ProjectionFilter, ProjectionQuery } from "./projection-entry.ts";
import { newestFirst, type ProjectionCursor } from "./projection-entry.ts";
import { conditionsOf, indexOf, NEWEST_FIRST, toEntry } from "./projection-sql.ts";

export interface ProjectionSearch extends ProjectionQuery {
  /** The texts that the detail of each wanted entry holds. */
  readonly texts: readonly string[];
  /** The most entries of each kind that are looked at for the texts. */
  readonly lookThrough: number;
  /** True to include held entries that are too old to be shown. */
  readonly anyAge?: boolean | undefined;
}

export interface FoundEntries {
  /** Newest first. */
  readonly entries: readonly ProjectionEntry[];
  /** The search looked at nothing behind this entry in the list; null where it reached the list's end. */
  readonly end: ProjectionCursor | null;
}

/** The entries of one kind under one message id for one destination. */
export interface MessageOutcome extends Pick<ProjectionEntry, "messageId" | "destinationId" | "kind"> {
  readonly entries: number;
  readonly firstMs: number;
  readonly newestMs: number;
}

export type CountedKind = Pick<ProjectionEntry, "destinationId" | "kind">;

export interface KindCount extends CountedKind {
  readonly count: number;
}

export interface CountQuery extends Omit<ProjectionFilter, "messageId"> {
  readonly limit: number;
  readonly after?: CountedKind | undefined;
}

export interface ProjectionBounds {
  readonly maxEntries: number;
  readonly keepMs: number;
}

export interface ProjectionOptions extends ProjectionBounds {
  /** The table's name. */
  readonly name: string;
  /** Every kind that an entry may have. */
  readonly kinds: readonly string[];
  readonly nowMs: () => number;
  /** Called for each entry that the projection drops since its bounds no longer allow it. */
  readonly onDropped?: (entry: ProjectionEntry) => void;
  /** Called with the place of each dropped entry, and of each entry that was too old to be added. */
  readonly onNotHeld?: (place: ProjectionCursor) => void;
}

/**
 * How many more entries than were added may be dropped at a time: a projection with lowered bounds then shrinks without
 * a long pause.
 */
const DROP_STEP = 1000;

const NO_USERS = Buffer.from("", "latin1");

export class Projection {
  readonly #database: DatabaseSync;
  readonly #options: ProjectionOptions;
  readonly #statements = new Map<string, StatementSync>();
  readonly #insert: StatementSync;
  readonly #tooOld: StatementSync;
  /** The entries by their message. */
  readonly messages: MessageIndex;
  #size: number;

  constructor(database: DatabaseSync, options: ProjectionOptions) {
    const { name } = options;
    this.#database = database;
    this.#options = options;
    // There are three indexes: each costs as much as the table itself when an entry is added.
    database.exec(`
      CREATE TABLE IF NOT EXISTS ${name} (
        time INTEGER NOT NULL,
        log_partition INTEGER NOT NULL,
        log_offset INTEGER NOT NULL,
        place INTEGER NOT NULL,
        destination_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        message_id TEXT NOT NULL,
        detail TEXT NOT NULL,
        users BLOB NOT NULL,
        mark INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        received INTEGER NOT NULL,
        PRIMARY KEY (time, log_partition, log_offset, place)
      ) WITHOUT ROWID, STRICT;
      CREATE INDEX IF NOT EXISTS ${name}_by_kind ON ${name} (kind, time);
      CREATE INDEX IF NOT EXISTS ${name}_by_destination ON ${name} (destination_id, kind, time);
    `);
    this.#insert = database.prepare(`INSERT OR IGNORE INTO ${name} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.messages = new MessageIndex(database, name);
    this.#tooOld = database.prepare(`SELECT 1 FROM ${name} NOT INDEXED WHERE time < ? LIMIT 1`);
    this.#size = Number(this.#prepare(`SELECT count(*) AS size FROM ${name}`).get()?.["size"]);
  }

  /** The number of entries held, those too old to be shown included. */
  get size(): number {
    return this.#size;
  }

  /** Adds entries and drops the entries beyond the bounds (JN3). */
  add(entries: readonly ProjectionEntry[]): void {
    for (const entry of entries) this.insert(entry);
    this.trim(entries.length);
  }

  /** Adds an entry and drops none; true where the entry is new and not too old to be held. */
  insert(entry: ProjectionEntry): boolean {
    const { timeMs, partition, offset, place, destinationId, kind, messageId, detail, mark = 0 } = entry;
    if (timeMs < this.#horizonMs()) {
      this.#options.onNotHeld?.(entry);
      return false;
    }
    const users = entry.users === "" ? NO_USERS : Buffer.from(entry.users, "latin1");
    const received = entry.receivedAtMs ?? timeMs;
    const of = [destinationId, kind, messageId, detail, users, mark, this.messages.newest, received] as const;
    const { changes } = this.#insert.run(timeMs, partition, offset, place, ...of);
    if (Number(changes) === 0) return false;
    this.#size += 1;
    this.messages.added(messageId);
    return true;
  }

  remove({ timeMs, partition, offset, place }: ProjectionCursor): void {
    const { changes } = this.#prepare(
      `DELETE FROM ${this.#options.name} WHERE (time, log_partition, log_offset, place) = (?, ?, ?, ?)`,
    ).run(timeMs, partition, offset, place);
    this.#size -= Number(changes);
  }

  /** Drops the entries beyond the bounds; `added`: the number of entries added since the last call (JN3). */
  trim(added: number): void {
    const horizonMs = this.#horizonMs();
    // A deletion takes long to find that there is nothing to drop.
    if (this.#tooOld.get(horizonMs) !== undefined) this.#drop(horizonMs, DROP_STEP);
    this.#drop(Number.MAX_SAFE_INTEGER, Math.min(this.#size - this.#options.maxEntries, added + DROP_STEP));
    this.messages.trim();
  }

  /** The newest entries that fit the query, newest first. */
  newest(query: ProjectionQuery): readonly ProjectionEntry[] {
    const { destinationId, kind, messageId, limit } = query;
    if (destinationId === undefined || kind !== undefined || messageId !== undefined) return this.#select(query);
    // The index has the kind before the time, so each kind is read by itself.
    return this.#options.kinds
      .flatMap((each) => this.#select({ ...query, kind: each }))
      .sort(newestFirst)
      .slice(0, limit);
  }

  /**
   * The newest entries that fit the query and hold its texts. SQLite compares the texts: a caller that parsed each
   * entry would take many times as long.
   */
  search(query: ProjectionSearch): FoundEntries {
    const { destinationId, kind, messageId, limit } = query;
    const isByKind = destinationId !== undefined && kind === undefined && messageId === undefined;
    const kinds = isByKind ? this.#options.kinds : [kind];
    const found = kinds.map((each) => this.#searchKind({ ...query, kind: each }));
    const ends = found.flatMap(({ end }) => (end === null ? [] : [end]));
    // Behind that entry, one of the kinds was not looked at.
    const end = ends.sort(newestFirst).at(0) ?? null;
    const known = found
      .flatMap(({ entries }) => entries)
      .filter((entry) => end === null || newestFirst(entry, end) <= 0)
      .sort(newestFirst);
    const entries = known.slice(0, limit);
    return { entries, end: known.length > limit ? (entries.at(-1) ?? end) : end };
  }

  /** Every entry of a message for a destination, in no order, those too old to be shown included. */
  ofDelivery(messageId: string, destinationId: string): readonly ProjectionEntry[] {
    return this.messages.rows("*", messageId, "destination_id = ?", destinationId).map(toEntry);
  }

  /** The held entries of the same message and destination that are no older, in no order. */
  since({ messageId, timeMs, destinationId }: ProjectionEntry): readonly ProjectionEntry[] {
    const isSince = "time >= ? AND destination_id = ?";
    return this.messages.rows("*", messageId, isSince, timeMs, destinationId).map(toEntry);
  }

  /** The entries at these places that the projection holds. */
  at(places: readonly ProjectionCursor[]): readonly ProjectionEntry[] {
    const held = this.#prepare(
      `SELECT * FROM ${this.#options.name} WHERE (time, log_partition, log_offset, place) = (?, ?, ?, ?)`,
    );
    return places.flatMap(({ timeMs, partition, offset, place }) => {
      const row = held.get(timeMs, partition, offset, place);
      return row === undefined ? [] : [toEntry(row)];
    });
  }

  /** The number of entries of each destination and kind, in that order. */
  counts({ limit, after, ...filter }: CountQuery): readonly KindCount[] {
    const { name } = this.#options;
    const { conditions, values } = conditionsOf(filter, this.#horizonMs(), this.messages);
    if (after !== undefined) {
      conditions.push("(destination_id, kind) > (?, ?)");
      values.push(after.destinationId, after.kind);
    }
    const rows = this.#prepare(
      `SELECT destination_id, kind, count(*) AS entries FROM ${name} INDEXED BY ${name}_by_destination
       WHERE ${conditions.join(" AND ")} GROUP BY destination_id, kind ORDER BY destination_id, kind LIMIT ?`,
    ).all(...values, limit);
    return rows.map((row) => ({
      destinationId: String(row["destination_id"]),
      kind: String(row["kind"]),
      count: Number(row["entries"]),
    }));
  }

  /** The outcomes of these messages; a message without an entry is absent. */
  outcomes(messageIds: readonly string[]): readonly MessageOutcome[] {
    const { name } = this.#options;
    const rows = this.#prepare(
      `SELECT message_id, destination_id, kind, count(*) AS entries, min(time) AS first, max(time) AS newest
       FROM ${name} INDEXED BY ${name}_by_message
       WHERE segment IN (SELECT value FROM json_each(?)) AND message_id IN (SELECT value FROM json_each(?))
         AND time >= ?
       GROUP BY message_id, destination_id, kind`,
    ).all(this.messages.segmentsOf(messageIds), JSON.stringify(messageIds), this.#horizonMs());
    return rows.map((row) => ({
      messageId: String(row["message_id"]),
      destinationId: String(row["destination_id"]),
      kind: String(row["kind"]),
      entries: Number(row["entries"]),
      firstMs: Number(row["first"]),
      newestMs: Number(row["newest"]),
    }));
  }

  #select({ limit, ...filter }: ProjectionQuery): readonly ProjectionEntry[] {
    const { sql, values } = this.#listed("*", filter);
    return this.#prepare(`${sql} LIMIT ?`)
      .all(...values, limit)
      .map(toEntry);
  }

  #searchKind({ limit, texts, lookThrough, anyAge, ...filter }: ProjectionSearch): FoundEntries {
    const horizonMs = anyAge === true ? 0 : this.#horizonMs();
    const { sql, values } = this.#listed("*", filter, horizonMs);
    const holds = ["TRUE", ...texts.map(() => "instr(detail, ?) > 0")].join(" AND ");
    const entries = this.#prepare(`SELECT * FROM (${sql} LIMIT ?) WHERE ${holds} LIMIT ?`)
      .all(...values, lookThrough, ...texts, limit)
      .map(toEntry);
    const last = entries.at(-1);
    if (entries.length === limit && last !== undefined) return { entries, end: last };
    const { sql: places } = this.#listed("time, log_partition, log_offset, place", filter, horizonMs);
    const row = this.#prepare(`${places} LIMIT 1 OFFSET ?`).get(...values, lookThrough - 1);
    return { entries, end: row === undefined ? null : toEntry(row) };
  }

  #listed(columns: string, filter: ProjectionFilter & Pick<ProjectionQuery, "after">, horizonMs = this.#horizonMs()) {
    const { name } = this.#options;
    const { conditions, values } = conditionsOf(filter, horizonMs, this.messages);
    const where = `WHERE ${conditions.join(" AND ")} ORDER BY ${NEWEST_FIRST}`;
    return { sql: `SELECT ${columns} FROM ${name} ${indexOf(name, filter)} ${where}`, values };
  }

  /** Drops the oldest entries from before a moment, `limit` at the most. */
  #drop(beforeMs: number, limit: number): void {
    if (limit <= 0) return;
    const { name, onDropped, onNotHeld } = this.#options;
    const dropped = `DELETE FROM ${name} WHERE (time, log_partition, log_offset, place) IN (
      SELECT time, log_partition, log_offset, place FROM ${name} WHERE time < ?
      ORDER BY time, log_partition, log_offset, place LIMIT ?)`;
    if (onDropped === undefined && onNotHeld === undefined) {
      this.#size -= Number(this.#prepare(dropped).run(beforeMs, limit).changes);
      return;
    }
    const rows = this.#prepare(`${dropped} RETURNING *`).all(beforeMs, limit);
    this.#size -= rows.length;
    for (const entry of rows.map(toEntry)) {
      onDropped?.(entry);
      onNotHeld?.(entry);
    }
  }

  #horizonMs(): number {
    return this.#options.nowMs() - this.#options.keepMs;
  }

  /** Prepares a statement once; the filters make a few dozen SQL texts at the most. */
  #prepare(sql: string): StatementSync {
    const held = this.#statements.get(sql);
    if (held !== undefined) return held;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
