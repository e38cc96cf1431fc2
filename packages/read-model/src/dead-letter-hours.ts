/**
 * The counts of dead letters by cause and hour.
 *
 * Owns: the counts, in its caller's database; LC1 to LC3 of dead-letter-table.ts are about them.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { SETTLE_RULES, type SettleRule } from "@posthaste/core/config/destination";
import type { DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import { deadLetterState, sqlOf } from "./dead-letter-mark.ts";
import type { CountedKind, ProjectionOptions } from "./projection.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

const HOUR_MS = 3_600_000;
/** The reason of dead letters that nobody sends again: their user is to be deleted. */
const SETTLED: DeadLetterReason = "suppressed";

/** How many dead letters there are of two of their states; the others died again. */
export interface DeadLetterSums {
  readonly open: number;
  readonly deliveredSince: number;
}

export interface DeadLetterTotals {
  readonly count: number;
  /** The counts of the dead letters by their state, under each setting of their destination. */
  readonly sums: Readonly<Record<SettleRule, DeadLetterSums>>;
}

/** The dead letters of one cause within an hour. */
export interface DeadLetterHour extends CountedKind, DeadLetterTotals {
  readonly reasonClass: string;
  /** The error of the first URL; null where there was no attempt. */
  readonly error: string | null;
  /** The beginning of the hour, ms since the epoch. */
  readonly hourMs: number;
  /** The time of the oldest dead letter, or earlier: the projection may have dropped that dead letter since. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** The place of the newest dead letter, `partition:offset`. */
  readonly sample: string;
}

/** A field left out covers every value. */
export interface DeadLetterHourQuery {
  readonly destinationId?: string | undefined;
  readonly kind?: string | undefined;
}

/** The group of an entry, from its detail. */
const GROUP = `
  ?1, ?2, ifnull(json_extract(?3, '$.reasonClass'), ''), ifnull(json_extract(?3, '$.errors[0]'), ''), ?4`;
const GROUP_COLUMNS = "destination_id, kind, class, error, hour";

const SUM_COLUMNS = SETTLE_RULES.flatMap((settle) => [`${settle}_open`, `${settle}_since`]);
const COUNT_COLUMNS = ["entries", ...SUM_COLUMNS];
/** The counts of dead letters one by one. */
const COUNTED_ENTRIES = [
  "count(*) AS entries",
  ...SETTLE_RULES.flatMap((settle) => {
    const { isOpen, isDelivered } = sqlOf(settle);
    return [`total(${isOpen}) AS ${settle}_open`, `total(${isDelivered}) AS ${settle}_since`];
  }),
].join(", ");

export class DeadLetterHours {
  readonly #database: DatabaseSync;
  readonly #options: Pick<ProjectionOptions, "nowMs" | "keepMs">;
  readonly #add: StatementSync;
  readonly #change: StatementSync;
  readonly #dropEmpty: StatementSync;
  readonly #tooOld: StatementSync;
  readonly #totalOfHours: StatementSync;
  readonly #totalOfEntries: StatementSync;

  /** `options`: the options of the projection of dead letters, whose table is there already. */
  constructor(database: DatabaseSync, options: Pick<ProjectionOptions, "name" | "kinds" | "nowMs" | "keepMs">) {
    this.#database = database;
    this.#options = options;
    database.exec(`
      CREATE TABLE IF NOT EXISTS letter_hours (
        destination_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        class TEXT NOT NULL,
        error TEXT NOT NULL,
        hour INTEGER NOT NULL,
        ${COUNT_COLUMNS.map((column) => `${column} INTEGER NOT NULL`).join(", ")},
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        sample TEXT NOT NULL,
        PRIMARY KEY (${GROUP_COLUMNS})
      ) WITHOUT ROWID, STRICT;
    `);
    const { name, kinds } = options;
    const owed = kinds.filter((kind) => kind !== SETTLED);
    const added = COUNT_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`);
    this.#add = database.prepare(`
      INSERT INTO letter_hours VALUES (${GROUP}, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11) ON CONFLICT DO UPDATE SET
        ${added.join(", ")}, first = min(first, excluded.first), last = max(last, excluded.last),
        sample = CASE WHEN excluded.last >= last THEN excluded.sample ELSE sample END`);
    const changed = COUNT_COLUMNS.map((column, index) => `${column} = ${column} + ?${index + 5}`);
    this.#change = database.prepare(
      `UPDATE letter_hours SET ${changed.join(", ")} WHERE (${GROUP_COLUMNS}) = (${GROUP})`,
    );
    this.#dropEmpty = database.prepare(
      `DELETE FROM letter_hours WHERE entries <= 0 AND (${GROUP_COLUMNS}) = (${GROUP})`,
    );
    this.#tooOld = database.prepare(`
      SELECT destination_id, kind, ifnull(json_extract(detail, '$.reasonClass'), '') AS class,
        ifnull(json_extract(detail, '$.errors[0]'), '') AS error, ${COUNTED_ENTRIES}
      FROM ${name} NOT INDEXED WHERE time >= ? AND time < ? GROUP BY 1, 2, 3, 4`);
    this.#totalOfHours = database.prepare(`
      SELECT ${COUNT_COLUMNS.map((column) => `total(${column}) AS ${column}`).join(", ")}
      FROM letter_hours WHERE destination_id = ? AND hour > ? AND kind <> '${SETTLED}'`);
    this.#totalOfEntries = database.prepare(`
      SELECT ${COUNTED_ENTRIES} FROM ${name} INDEXED BY ${name}_by_destination
      WHERE destination_id = ? AND kind IN (${owed.map((kind) => `'${kind}'`).join(", ")}) AND time >= ? AND time < ?`);
  }

  /** Counts a dead letter with this number (dead-letter-mark.ts). */
  add(deadLetter: ProjectionEntry, mark: number): void {
    const { timeMs, partition, offset } = deadLetter;
    this.#add.run(...groupOf(deadLetter), 1, ...sumsOf(mark), timeMs, `${partition}:${offset}`);
  }

  /** Counts a dead letter by its present mark and no longer by the mark `before`. */
  change(deadLetter: ProjectionEntry, before: number, mark: number): void {
    const was = sumsOf(before);
    this.#change.run(...groupOf(deadLetter), 0, ...sumsOf(mark).map((sum, index) => sum - (was[index] ?? 0)));
  }

  remove(deadLetter: ProjectionEntry, mark: number): void {
    this.#change.run(...groupOf(deadLetter), -1, ...sumsOf(mark).map((sum) => -sum));
    this.#dropEmpty.run(...groupOf(deadLetter));
  }

  hours({ destinationId, kind }: DeadLetterHourQuery): readonly DeadLetterHour[] {
    const horizonMs = this.#horizonMs();
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

  /**
   * The counts of a destination, without settled ones. Dead letters of the hour that is shown in part are counted one
   * by one.
   */
  totals(destinationId: string): DeadLetterTotals {
    const horizonMs = this.#horizonMs();
    const beginMs = hourOf(horizonMs);
    const whole = totalsIn(this.#totalOfHours.get(destinationId, beginMs));
    return sumOf(whole, totalsIn(this.#totalOfEntries.get(destinationId, horizonMs, beginMs + HOUR_MS)), 1);
  }

  /** LC1: subtracts the dead letters that are too old from the hour that is shown in part. */
  #withoutTooOld(horizonMs: number): (hour: DeadLetterHour) => DeadLetterHour {
    const beginMs = hourOf(horizonMs);
    const tooOld = new Map(
      this.#tooOld
        .all(beginMs, horizonMs)
        .map((row) => [
          JSON.stringify([row["destination_id"], row["kind"], row["class"], row["error"]]),
          totalsIn(row),
        ]),
    );
    return (hour) => {
      if (hour.hourMs !== beginMs) return hour;
      const { destinationId, kind, reasonClass, error, firstMs } = hour;
      const less = tooOld.get(JSON.stringify([destinationId, kind, reasonClass, error ?? ""])) ?? totalsIn(undefined);
      return { ...hour, ...sumOf(hour, less, -1), firstMs: Math.max(firstMs, horizonMs) };
    };
  }

  #horizonMs(): number {
    return this.#options.nowMs() - this.#options.keepMs;
  }
}

function groupOf({ destinationId, kind, detail, timeMs }: ProjectionEntry) {
  return [destinationId, kind, detail, hourOf(timeMs)] as const;
}

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS) * HOUR_MS;
}

/** How much a dead letter with this number adds to each of `SUM_COLUMNS`. */
function sumsOf(mark: number): readonly number[] {
  return SETTLE_RULES.flatMap((settle) => {
    const state = deadLetterState(mark, settle);
    return [Number(state === "open"), Number(state === "deliveredSince")];
  });
}

function totalsIn(row: Readonly<Record<string, unknown>> | undefined): DeadLetterTotals {
  const number = (column: string): number => Number(row?.[column] ?? 0);
  const sums = (settle: SettleRule): DeadLetterSums => ({
    open: number(`${settle}_open`),
    deliveredSince: number(`${settle}_since`),
  });
  return { count: number("entries"), sums: { any: sums("any"), each: sums("each") } };
}

function sumOf(one: DeadLetterTotals, other: DeadLetterTotals, by: 1 | -1): DeadLetterTotals {
  const sums = (settle: SettleRule): DeadLetterSums => ({
    open: one.sums[settle].open + by * other.sums[settle].open,
    deliveredSince: one.sums[settle].deliveredSince + by * other.sums[settle].deliveredSince,
  });
  return { count: one.count + by * other.count, sums: { any: sums("any"), each: sums("each") } };
}

function toHour(row: Readonly<Record<string, unknown>>): DeadLetterHour {
  const error = String(row["error"]);
  return {
    destinationId: String(row["destination_id"]),
    kind: String(row["kind"]),
    reasonClass: String(row["class"]),
    error: error === "" ? null : error,
    hourMs: Number(row["hour"]),
    ...totalsIn(row),
    firstMs: Number(row["first"]),
    lastMs: Number(row["last"]),
    sample: String(row["sample"]),
  };
}
