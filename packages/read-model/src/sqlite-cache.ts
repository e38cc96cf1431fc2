/**
 * An SQLite database that caches topics.
 *
 * SC1  A file of another cluster, of another layout, or that SQLite cannot read is made anew. Where the file cannot be
 *      opened (another process has it, the folder cannot be written), the cache lives in memory.
 * SC2  A file that turns out to be damaged while it is used is removed, so that the next opening makes it anew.
 */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** SQLite's name for a temporary file that nobody sees and that is removed with its connection. */
export const TEMPORARY_FILE = "";

export interface CacheOptions {
  /** The database's file, or `TEMPORARY_FILE`; null for memory. */
  readonly path: string | null;
  /** Names the cluster and its topics. */
  readonly identity: string;
  /** Raised with every change of the tables. */
  readonly layout: number;
  /**
   * The page cache in KiB, for all of the database and for uncommitted changes too: memory stays at this, however much
   * the file holds.
   */
  readonly cacheKib: number;
  /** The SQL that makes the tables where they do not exist. */
  readonly tables: string;
  /** The cache's content, in words for `trouble`. */
  readonly holds: string;
}

export interface Cache {
  readonly database: DatabaseSync;
  /** Why the file was not used, or was made anew; null where neither happened. */
  readonly trouble: string | null;
  readonly isFile: boolean;
}

export function openCache(options: CacheOptions): Cache {
  const { path } = options;
  if (path === null) return { database: prepare(":memory:", options), trouble: null, isFile: false };
  try {
    return { database: prepare(path, options), trouble: null, isFile: true };
  } catch (first) {
    if (!isForeign(first)) return withoutFile(options, first);
    try {
      remove(path);
      return { database: prepare(path, options), trouble: `${path} is read anew: ${wordsOf(first)}`, isFile: true };
    } catch (second) {
      return withoutFile(options, second);
    }
  }
}

/**
 * Runs `use`, which works with the cache at `path`, and rethrows its error; removes the file where the error says that
 * it is damaged (SC2).
 */
export function removingDamaged<T>(path: string | null, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (path !== null && path !== TEMPORARY_FILE && isForeign(error)) remove(path);
    throw error;
  }
}

function remove(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

function withoutFile(options: CacheOptions, reason: unknown): Cache {
  const trouble = `${options.holds} is kept in memory: ${wordsOf(reason)}`;
  return { database: prepare(":memory:", options), trouble, isFile: false };
}

class ForeignFile extends Error {}

function prepare(path: string, { identity, layout, cacheKib, tables }: CacheOptions): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    // A power cut may take the last commits of a cache, but the file must stay whole; WAL keeps it so.
    database.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA cache_size = -${cacheKib};
      CREATE TABLE IF NOT EXISTS about (layout INTEGER NOT NULL, identity TEXT NOT NULL) STRICT;
    `);
    const about = database.prepare("SELECT layout, identity FROM about").get();
    if (about === undefined) {
      database.prepare("INSERT INTO about VALUES (?, ?)").run(layout, identity);
    } else if (about["layout"] !== layout || about["identity"] !== identity) {
      throw new ForeignFile("it was made for another cluster or by another version");
    }
    database.exec(tables);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite's error codes for a damaged file, and for a file that is no database. */
const UNREADABLE = [11, 26];

function isForeign(error: unknown): boolean {
  if (error instanceof ForeignFile) return true;
  if (!(error instanceof Error && "errcode" in error && typeof error.errcode === "number")) return false;
  // An extended code has the primary code in its lowest byte.
  return UNREADABLE.includes(error.errcode & 0xff);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
