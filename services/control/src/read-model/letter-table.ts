/**
 * The journal of dead letters, with counts by cause and hour.
 *
 * Owns: that journal, the counts and the rows (`letter-rows.ts`), in its caller's database.
 * LC1  Every letter that the journal shows is counted once, whatever comes again, is dropped, or has become too old.
 * LC2  The cost of a question depends on the number of groups and hours, not of letters, except for the held letters of
 *      the oldest shown hour that have become too old: they are subtracted one by one.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type CountedKind, Journal, type JournalOptions } from "./journal.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { LetterRowTable } from "./letter-rows.ts";

const HOUR_MS = 3_600_000;

/** The letters of one cause within an hour. */
export interface LetterHour extends CountedKind {
  readonly reasonClass: string;
  /** The error of the first URL; null where there was no attempt. */
  readonly error: string | null;
  /** The beginning of the hour, ms since the epoch. */
  readonly hourMs: number;
  readonly count: number;
  /** The time of the oldest letter, or earlier: the journal may have dropped that letter since. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The place of the newest letter, `partition:offset`. */
  readonly sample: string;
}

/** A field left out covers every value. */
export interface LetterHourQuery {
  readonly destinationId?: string | undefined;
  readonly kind?: string | undefined;
}

export interface LetterTableOptions extends Omit<JournalOptions, "onDropped"> {
  /**
   * True where the journal holds an attempt of the letter's message and destination that began no sooner than the
   * letter died.
   */
  readonly isTriedSince: (entry: JournalEntry) => boolean;
}

/** The group of an entry, from its detail. */
const GROUP = `
  ?1, ?2, ifnull(json_extract(?3, '$.reasonClass'), ''), ifnull(json_extract(?3, '$.errors[0]'), ''), ?4`;
const GROUP_COLUMNS = "destination_id, kind, class, error, hour";

export class LetterTable {
  readonly #database: DatabaseSync;
  readonly #options: Pick<LetterTableOptions, "nowMs" | "keepMs" | "isTriedSince">;
  readonly #add: StatementSync;
  readonly #take: StatementSync;
  readonly #dropEmpty: StatementSync;
  readonly #tooOld: StatementSync;
  readonly journal: Journal;
  readonly rows: LetterRowTable;

  constructor(database: DatabaseSync, options: LetterTableOptions) {
    this.#database = database;
    this.#options = options;
    this.journal = new Journal(database, { ...options, onDropped: (entry) => this.#uncount(entry) });
    this.rows = new LetterRowTable(database, options.name);
    database.exec(`
      CREATE TABLE IF NOT EXISTS letter_hours (
        destination_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        class TEXT NOT NULL,
        error TEXT NOT NULL,
        hour INTEGER NOT NULL,
        entries INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        sample TEXT NOT NULL,
        PRIMARY KEY (${GROUP_COLUMNS})
      ) WITHOUT ROWID, STRICT;
    `);
    this.#add = database.prepare(`
      INSERT INTO letter_hours VALUES (${GROUP}, 1, ?5, ?5, ?6) ON CONFLICT DO UPDATE SET
        entries = entries + 1, first = min(first, excluded.first), last = max(last, excluded.last),
        sample = CASE WHEN excluded.last >= last THEN excluded.sample ELSE sample END`);
    this.#take = database.prepare(
      `UPDATE letter_hours SET entries = entries - 1 WHERE (${GROUP_COLUMNS}) = (${GROUP})`,
    );
    this.#dropEmpty = database.prepare(
      `DELETE FROM letter_hours WHERE entries <= 0 AND (${GROUP_COLUMNS}) = (${GROUP})`,
    );
    this.#tooOld = database.prepare(`
      SELECT destination_id, kind, ifnull(json_extract(detail, '$.reasonClass'), '') AS class,
        ifnull(json_extract(detail, '$.errors[0]'), '') AS error, count(*) AS entries
      FROM ${options.name} NOT INDEXED WHERE time >= ? AND time < ? GROUP BY 1, 2, 3, 4`);
  }

  /** LC1. */
  add(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      const { timeMs, partition, offset } = entry;
      if (!this.journal.insert(entry)) continue;
      this.#add.run(...groupOf(entry), timeMs, `${partition}:${offset}`);
      this.rows.add(entry, this.#options.isTriedSince(entry));
    }
    this.journal.trim(entries.length);
  }

  /** Marks the rows of letters that these attempts followed (NR2 of letter-rows.ts). */
  noteAttempts(attempts: readonly JournalEntry[]): void {
    if (this.journal.size > 0) for (const attempt of attempts) this.rows.mark(attempt);
  }

  /** LC2: the counts by group, without letters that are too old to be shown. */
  hours({ destinationId, kind }: LetterHourQuery): readonly LetterHour[] {
    const horizonMs = this.#options.nowMs() - this.#options.keepMs;
    const conditions = ["hour > ?"];
    const values: (string | number)[] = [horizonMs - HOUR_MS];
    for (const [column, value] of [
      ["destination_id", destinationId],
      ["kind", kind],
    ] as const) {
      if (value === undefined) continue;
      conditions.push(`${column} = ?`);
      values.push(value);
    }
    const where = conditions.join(" AND ");
    return this.#database
      .prepare(`SELECT * FROM letter_hours WHERE ${where} ORDER BY ${GROUP_COLUMNS}`)
      .all(...values)
      .map(toHour)
      .map(this.#withoutTooOld(horizonMs))
      .filter(({ count }) => count > 0);
  }

  /** LC1: subtracts the letters that are too old from the hour that is shown in part. */
  #withoutTooOld(horizonMs: number): (hour: LetterHour) => LetterHour {
    const beginMs = hourOf(horizonMs);
    const tooOld = new Map(
      this.#tooOld
        .all(beginMs, horizonMs)
        .map((row) => [
          JSON.stringify([row["destination_id"], row["kind"], row["class"], row["error"]]),
          Number(row["entries"]),
        ]),
    );
    return (hour) => {
      if (hour.hourMs !== beginMs) return hour;
      const { destinationId, kind, reasonClass, error, count, firstMs } = hour;
      const less = tooOld.get(JSON.stringify([destinationId, kind, reasonClass, error ?? ""])) ?? 0;
      return { ...hour, count: count - less, firstMs: Math.max(firstMs, horizonMs) };
    };
  }

  #uncount(entry: JournalEntry): void {
    this.#take.run(...groupOf(entry));
    this.#dropEmpty.run(...groupOf(entry));
    this.rows.remove(entry);
  }
}

function groupOf({ destinationId, kind, detail, timeMs }: JournalEntry) {
  return [destinationId, kind, detail, hourOf(timeMs)] as const;
}

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS) * HOUR_MS;
}

function toHour(row: Readonly<Record<string, unknown>>): LetterHour {
  const error = String(row["error"]);
  return {
    destinationId: String(row["destination_id"]),
    kind: String(row["kind"]),
    reasonClass: String(row["class"]),
    error: error === "" ? null : error,
    hourMs: Number(row["hour"]),
    count: Number(row["entries"]),
    firstMs: Number(row["first"]),
    lastMs: Number(row["last"]),
    sample: String(row["sample"]),
  };
}
