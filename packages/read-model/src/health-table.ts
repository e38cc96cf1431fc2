/**
 * The counts of each destination: by the minute for a day, by the quarter of an hour for a week.
 *
 * Owns: both tables, in its caller's database, and the time up to which they are written.
 * HT1  A minute is written once, when it is over and everything about it is known; a minute that comes again is
 *      dropped.
 * HT2  A quarter is the sum of its minutes. For `waiting` and `inFlight`, which are no counts, it holds the largest
 *      value.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { LATENCY_BUCKETS } from "@posthaste/core/health/latency-counts";
import type { Counted } from "@posthaste/core/health/recent-counts";

export const MINUTE_MS = 60_000;
export const QUARTER_MS = 15 * MINUTE_MS;
export const MINUTES_KEEP_MS = 24 * 60 * MINUTE_MS;
const QUARTERS_KEEP_MS = 7 * 24 * 60 * MINUTE_MS;

/** The counts of a destination for the minute or quarter that begins at `timeMs`. */
export interface HealthRow extends Counted {
  readonly timeMs: number;
  /** The deliveries that waited in delivery processes, and the requests under way, at the end. */
  readonly waiting: number;
  readonly inFlight: number;
}

export interface HealthOfMinute {
  /** The beginning of the minute, ms since the epoch. */
  readonly minuteMs: number;
  readonly rows: readonly (HealthRow & { readonly destinationId: string })[];
}

export interface HealthQuery {
  readonly destinationId: string;
  /** The earliest time of the first row, and the time that all rows are before; ms since the epoch. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly of: "minutes" | "quarters";
}

const LATENCIES = Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => `latency_${bucket}`);
const SUMS = ["delivered", "retryable", "permanent", "deferred", ...LATENCIES];
const MOSTS = ["waiting", "in_flight"];
const COLUMNS = [...SUMS, ...MOSTS];

export class HealthTable {
  readonly #database: DatabaseSync;
  readonly #nowMs: () => number;
  readonly #insertMinute: StatementSync;
  readonly #addToQuarter: StatementSync;
  #writtenToMs: number | null;

  constructor(database: DatabaseSync, nowMs: () => number) {
    this.#database = database;
    this.#nowMs = nowMs;
    for (const table of ["minutes", "quarters"]) {
      database.exec(`
        CREATE TABLE IF NOT EXISTS health_${table} (
          destination_id TEXT NOT NULL,
          time INTEGER NOT NULL,
          ${COLUMNS.map((column) => `${column} INTEGER NOT NULL`).join(", ")},
          PRIMARY KEY (destination_id, time)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX IF NOT EXISTS health_${table}_by_time ON health_${table} (time);
      `);
    }
    database.exec("CREATE TABLE IF NOT EXISTS health_written (to_ms INTEGER NOT NULL) STRICT");
    const written = database.prepare("SELECT to_ms FROM health_written").get()?.["to_ms"];
    this.#writtenToMs = written === undefined ? null : Number(written);
    const values = ["destination_id", "time", ...COLUMNS].map(() => "?").join(", ");
    const joined = [
      ...SUMS.map((column) => `${column} = ${column} + excluded.${column}`),
      ...MOSTS.map((column) => `${column} = max(${column}, excluded.${column})`),
    ];
    this.#insertMinute = database.prepare(`INSERT OR IGNORE INTO health_minutes VALUES (${values})`);
    this.#addToQuarter = database.prepare(
      `INSERT INTO health_quarters VALUES (${values}) ON CONFLICT DO UPDATE SET ${joined.join(", ")}`,
    );
  }

  /** The end of the newest minute that was written, ms since the epoch; null before the first. */
  get writtenToMs(): number | null {
    return this.#writtenToMs;
  }

  /** HT1. Writes all rows of one minute, in the caller's transaction. */
  add({ minuteMs, rows }: HealthOfMinute): void {
    if (this.#writtenToMs !== null && minuteMs < this.#writtenToMs) return;
    const quarterMs = Math.floor(minuteMs / QUARTER_MS) * QUARTER_MS;
    for (const row of rows) {
      const { destinationId, delivered, retryable, permanent, deferred, waiting, inFlight } = row;
      const latencies = LATENCIES.map((_, bucket) => row.latencies[bucket] ?? 0);
      const values = [delivered, retryable, permanent, deferred, ...latencies, waiting, inFlight];
      this.#insertMinute.run(destinationId, minuteMs, ...values);
      this.#addToQuarter.run(destinationId, quarterMs, ...values);
    }
    this.#writtenToMs = minuteMs + MINUTE_MS;
    this.#database.exec("DELETE FROM health_written");
    this.#database.prepare("INSERT INTO health_written VALUES (?)").run(this.#writtenToMs);
    this.#drop("minutes", MINUTES_KEEP_MS);
    this.#drop("quarters", QUARTERS_KEEP_MS);
  }

  /** The rows in the order of time. */
  rows({ destinationId, sinceMs, untilMs, of }: HealthQuery): readonly HealthRow[] {
    const found = this.#database
      .prepare(`SELECT * FROM health_${of} WHERE destination_id = ? AND time >= ? AND time < ? ORDER BY time`)
      .all(destinationId, sinceMs, untilMs);
    return found.map(toRow);
  }

  #drop(table: string, keepMs: number): void {
    const oldestMs: SQLInputValue = this.#nowMs() - keepMs;
    this.#database.prepare(`DELETE FROM health_${table} WHERE time < ?`).run(oldestMs);
  }
}

function toRow(row: Readonly<Record<string, unknown>>): HealthRow {
  const number = (column: string): number => Number(row[column]);
  return {
    timeMs: number("time"),
    delivered: number("delivered"),
    retryable: number("retryable"),
    permanent: number("permanent"),
    deferred: number("deferred"),
    latencies: LATENCIES.map(number),
    waiting: number("waiting"),
    inFlight: number("in_flight"),
  };
}
