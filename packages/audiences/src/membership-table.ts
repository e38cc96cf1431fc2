/**
 * The newest record of every user of every audience, in a database, by the rules U1 to U4 (membership.ts of core). It
 * is synchronous, as SQLite is here, and runs on a thread of its own (`membership-worker.ts`).
 *
 * Owns: the database with its file, the open transaction, and the uploads that are not compared yet.
 * MT1  Records and the position behind them are written in one transaction, so that reading goes on without a gap
 *      however the process ended.
 * MT2  A transaction has `COMMIT_ENTRIES` rows, or the rows that came within `COMMIT_INTERVAL_MS`. Rows lost in a crash
 *      are read again.
 * MT3  An upload is a table of its own until it is dropped. Uploads that an ended process left are dropped at the
 *      start.
 * MT4  Comparing goes page by page in order of the user, so that no question waits longer than one page takes.
 * MT5  A page is bounded in characters too, since a value may have 16 KB and the thread's heap is small.
 */
import type { AudienceKind } from "@posthaste/core/audience/audience";
import { absentValue, changeOf, type HeldMember } from "@posthaste/core/audience/membership";
import { type Cache, openCache } from "@posthaste/read-model/sqlite-cache";
import { type Held, MemberRows, Statements } from "./member-rows.ts";
import type { MembershipEntry } from "./membership-entry.ts";

const LAYOUT = 1;
const CACHE_KIB = 16 * 1024;
const COMMIT_ENTRIES = 5000;
const COMMIT_INTERVAL_MS = 1000;
/** The most characters of a page. */
const PAGE_LENGTH = 256 * 1024;

export interface MembershipTableOptions {
  /** The database's file; null for memory. */
  readonly path: string | null;
  /** A text that names the cluster and the topic. */
  readonly identity: string;
}

/** The next offset to read in a partition. */
export interface Position {
  readonly partition: number;
  readonly next: number;
}

export interface MembershipStart {
  /** Why the file was not used, or was made anew; null when neither happened. */
  readonly trouble: string | null;
  readonly positions: readonly Position[];
}

/** One user whose value is to change. */
export interface Change {
  readonly userId: string;
  readonly valueJson: string;
  /** The latest time of all records of the user; null when there is none. */
  readonly newestMs: number | null;
}

export interface Page {
  readonly changes: readonly Change[];
  /** How many users were compared and need no change. */
  readonly unchanged: number;
  /** The user behind whom the next page begins; null after the last page. */
  readonly after: string | null;
}

export interface PageQuery {
  readonly audienceId: string;
  readonly kind: AudienceKind;
  readonly upload: number;
  /** Only users behind this one; null for the first page. */
  readonly after: string | null;
  /** The most users that are compared. */
  readonly limit: number;
}

export class MembershipTable {
  readonly #cache: Cache;
  readonly #statements: Statements;
  readonly #rows: MemberRows;
  readonly start: MembershipStart;
  #uncommitted = 0;
  #timer: NodeJS.Timeout | null = null;
  #uploads = 0;

  constructor({ path, identity }: MembershipTableOptions) {
    this.#cache = openCache({
      path,
      identity,
      layout: LAYOUT,
      cacheKib: CACHE_KIB,
      tables: TABLES,
      holds: "the audiences' membership",
    });
    this.#statements = new Statements(this.#cache.database);
    this.#rows = new MemberRows(this.#statements);
    this.#dropUploads();
    const positions = this.#statements.of("SELECT partition, next FROM positions").all();
    this.start = {
      trouble: this.#cache.trouble,
      positions: positions.map((row) => ({ partition: Number(row["partition"]), next: Number(row["next"]) })),
    };
  }

  /** MT1. */
  take(partition: number, next: number, entries: readonly MembershipEntry[]): void {
    this.#begin();
    for (const entry of entries) this.#rows.apply(entry, partition);
    this.#statements.of("INSERT OR REPLACE INTO positions VALUES (?, ?)").run(partition, next);
    this.#count(entries.length);
  }

  /** Forgets everything: the topic was made anew. */
  clear(): void {
    this.#begin();
    this.#cache.database.exec("DELETE FROM members; DELETE FROM fences; DELETE FROM positions");
    this.#rows.forget();
  }

  held(audienceId: string): Held {
    return this.#rows.held(this.#rows.numberOf(audienceId));
  }

  member(audienceId: string, userId: string): HeldMember | null {
    return this.#rows.member(this.#rows.numberOf(audienceId), userId) ?? null;
  }

  /** The audiences with users that are to be written again (U3). */
  stale(): readonly string[] {
    const rows = this.#statements
      .of("SELECT name FROM audiences WHERE id IN (SELECT DISTINCT audience FROM members WHERE stale = 1)")
      .all();
    return rows.map((row) => String(row["name"]));
  }

  openUpload(): number {
    this.#begin();
    this.#uploads += 1;
    this.#cache.database.exec(
      `CREATE TABLE upload_${this.#uploads} (user TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT`,
    );
    return this.#uploads;
  }

  /** Adds users to an upload; when a user comes again the last value counts. */
  addToUpload(upload: number, users: readonly (readonly [userId: string, valueJson: string])[]): void {
    this.#begin();
    const insert = this.#statements.of(`INSERT OR REPLACE INTO upload_${upload} VALUES (?, ?)`);
    for (const [userId, valueJson] of users) insert.run(userId, valueJson);
    this.#count(users.length);
  }

  dropUpload(upload: number): void {
    this.#begin();
    this.#statements.forget(new RegExp(`\\bupload_${upload}\\b`));
    this.#cache.database.exec(`DROP TABLE IF EXISTS upload_${upload}`);
  }

  /** MT4. Users of the upload whose value differs from the one in the table. */
  changed({ audienceId, kind, upload, after, limit }: PageQuery): Page {
    const rows = this.#statements
      .of(`
      SELECT u.user, u.value AS wanted, m.value, m.newest, m.stale FROM upload_${upload} u
      LEFT JOIN members m ON m.audience = ? AND m.user = u.user
      WHERE u.user > ? ORDER BY u.user LIMIT ?
    `)
      .iterate(this.#rows.numberOf(audienceId), after ?? "", limit);
    return pageOf(rows, limit, (row) => changeOf(kind, String(row["wanted"]), heldIn(row)));
  }

  /** MT4. Users in the table that the upload does not name, whose value becomes absent. */
  missing({ audienceId, kind, upload, after, limit }: PageQuery): Page {
    const absent = absentValue(kind) ?? "null";
    const rows = this.#statements
      .of(`
      SELECT m.user, m.value, m.newest, m.stale, EXISTS (SELECT 1 FROM upload_${upload} u WHERE u.user = m.user) AS present
      FROM members m WHERE m.audience = ? AND m.user > ? ORDER BY m.user LIMIT ?
    `)
      .iterate(this.#rows.numberOf(audienceId), after ?? "", limit);
    return pageOf(rows, limit, (row) => (row["present"] === 1 ? null : changeOf(kind, absent, heldIn(row))));
  }

  /** Users that are to be written again with the value in the table (U3). */
  staleMembers(audienceId: string, after: string | null, limit: number): Page {
    const rows = this.#statements
      .of(`
      SELECT user, value, newest FROM members WHERE audience = ? AND stale = 1 AND user > ? ORDER BY user LIMIT ?
    `)
      .iterate(this.#rows.numberOf(audienceId), after ?? "", limit);
    return pageOf(rows, limit, (row) => String(row["value"]));
  }

  /** All users in the table, whatever their value. */
  everybody(audienceId: string, after: string | null, limit: number): Page {
    const rows = this.#statements
      .of(`
      SELECT user, value, newest FROM members WHERE audience = ? AND user > ? ORDER BY user LIMIT ?
    `)
      .iterate(this.#rows.numberOf(audienceId), after ?? "", limit);
    return pageOf(rows, limit, (row) => String(row["value"]));
  }

  commit(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#uncommitted = 0;
    this.#cache.database.exec("COMMIT");
  }

  close(): void {
    this.#dropUploads();
    this.commit();
    this.#cache.database.close();
  }

  /** MT3. */
  #dropUploads(): void {
    const tables = this.#statements.of(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'upload\\_%' ESCAPE '\\'",
    );
    for (const { name } of tables.all()) this.#cache.database.exec(`DROP TABLE ${String(name)}`);
  }

  /** MT2. Begins a transaction; a timer runs while one is open. */
  #begin(): void {
    if (this.#timer !== null) return;
    this.#cache.database.exec("BEGIN");
    this.#timer = setTimeout(() => this.commit(), COMMIT_INTERVAL_MS);
  }

  #count(rows: number): void {
    this.#uncommitted += rows;
    if (this.#uncommitted >= COMMIT_ENTRIES) this.commit();
  }
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS audiences (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS fences (
    audience INTEGER NOT NULL, partition INTEGER NOT NULL, revision INTEGER NOT NULL, born INTEGER NOT NULL,
    PRIMARY KEY (audience, partition)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS members (
    audience INTEGER NOT NULL, user TEXT NOT NULL, value TEXT NOT NULL, revision INTEGER NOT NULL,
    changed INTEGER NOT NULL, newest INTEGER NOT NULL, partition INTEGER NOT NULL, stale INTEGER NOT NULL,
    PRIMARY KEY (audience, user)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS stale_members ON members (audience, user) WHERE stale = 1;
`;

type Row = Readonly<Record<string, unknown>>;

function heldIn(row: Row): { readonly valueJson: string; readonly isStale: boolean } | undefined {
  return typeof row["value"] === "string" ? { valueJson: row["value"], isStale: row["stale"] === 1 } : undefined;
}

/** A page of rows. It ends after `limit` rows, or after `PAGE_LENGTH` characters (MT5). */
function pageOf(rows: Iterable<Row>, limit: number, valueFor: (row: Row) => string | null): Page {
  const changes: Change[] = [];
  let [looked, length] = [0, 0];
  let after: string | null = null;
  for (const row of rows) {
    const userId = String(row["user"]);
    looked += 1;
    length += userId.length + lengthOf(row["value"]) + lengthOf(row["wanted"]);
    const valueJson = valueFor(row);
    const newestMs = row["newest"] === null ? null : Number(row["newest"]);
    if (valueJson !== null) changes.push({ userId, valueJson, newestMs });
    if (looked < limit && length < PAGE_LENGTH) continue;
    after = userId;
    break;
  }
  return { changes, unchanged: looked - changes.length, after };
}

function lengthOf(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}
