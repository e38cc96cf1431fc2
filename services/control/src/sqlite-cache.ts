/**
 * A database that is a cache of topics: opened from its file, made anew where that is of no use, kept in memory where
 * there is none.
 *
 * SC1  A file of another cluster, of another layout, or one that cannot be read is made anew; one that cannot be opened
 *     (another process has it, the folder cannot be written) is done without, in memory.
 * SC2  A file that turns out to be damaged while it is used is removed, so that the next opening makes it anew.
 */
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** SQLite's name for a file of its own that nobody sees and that is gone with whoever opened it. */
export const TEMPORARY_FILE = "";

export interface CacheOptions {
  /** The database's file, or `TEMPORARY_FILE`; null for memory. */
  readonly path: string | null;
  /** Names the cluster and its topics. */
  readonly identity: string;
  /** Raised with every change of the tables. */
  readonly layout: number;
  /** For all of the database, also for what is not committed yet: memory stays at this whatever is held in the file. */
  readonly cacheKib: number;
  /** Makes the tables where they are not there yet. */
  readonly tables: string;
  /** What it holds, for the words of `trouble`. */
  readonly holds: string;
}

export interface Cache {
  readonly database: DatabaseSync;
  /** Why the file was not used, or made anew; null when nothing is to be said. */
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

/** Does what `use` says, which the caller's cache is for; throws what that threw (SC2). */
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
    // A cache: losing the last commits to a power cut is nothing, but the file must stay whole, and WAL keeps it so.
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

/** SQLite's own codes for a file that is damaged, and for one that is no database. */
const UNREADABLE = [11, 26];

function isForeign(error: unknown): boolean {
  if (error instanceof ForeignFile) return true;
  if (!(error instanceof Error && "errcode" in error && typeof error.errcode === "number")) return false;
  // The lowest byte of what may be a code in more detail.
  return UNREADABLE.includes(error.errcode & 0xff);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
