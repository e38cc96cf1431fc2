/**
 * The entries of a projection in the order in which their events were received, the newest first.
 *
 * Owns: the index by receipt, and its statements. A page is read along the index (JN4 of projection.ts).
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { MessageIndex } from "./message-index.ts";
import type { ProjectionOptions } from "./projection.ts";
import type { ProjectionEntry } from "./projection-entry.ts";
import { toEntry } from "./projection-sql.ts";

/** An entry of an event, and when the event was received, ms since the epoch. */
export interface ReceivedEntry extends ProjectionEntry {
  readonly receivedAtMs: number;
}

/** All entries of the event in one receipt stand together. */
export interface ReceiptPlace {
  readonly receivedAtMs: number;
  readonly messageId: string;
}

export interface ReceivedQuery {
  /** The events are received since this moment, and before that one; ms since the epoch. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** The texts that the detail of each wanted entry holds. */
  readonly texts: readonly string[];
  /** Where the page begins, this place included; where it goes on, behind this entry. */
  readonly from?: ReceiptPlace | undefined;
  readonly after?: ReceivedEntry | undefined;
  readonly limit: number;
  /** The most entries that are looked at for the texts. */
  readonly lookThrough: number;
}

export interface ReceivedEntries {
  readonly entries: readonly ReceivedEntry[];
  /** The last entry that was looked at; null where the list came to its end. */
  readonly end: ReceivedEntry | null;
}

/** The newest receipt of an event. */
export interface NewestReceipt extends ReceiptPlace {
  readonly sourceId: string;
}

const ORDER = "received DESC, message_id DESC, time DESC, log_partition DESC, log_offset DESC, place DESC";
const PLACE = "(received, message_id, time, log_partition, log_offset, place)";

export class ReceivedEvents {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #name: string;
  readonly #horizonMs: () => number;
  readonly #messages: MessageIndex;

  constructor(
    database: DatabaseSync,
    messages: MessageIndex,
    { name, nowMs, keepMs }: Pick<ProjectionOptions, "name" | "nowMs" | "keepMs">,
  ) {
    this.#database = database;
    this.#messages = messages;
    this.#name = name;
    this.#horizonMs = () => nowMs() - keepMs;
    database.exec(`CREATE INDEX IF NOT EXISTS ${name}_by_receipt ON ${name} (received, message_id)`);
  }

  page({ sinceMs = 0, untilMs, texts, from, after, limit, lookThrough }: ReceivedQuery): ReceivedEntries {
    const conditions = ["time >= ?", "received >= ?"];
    const values: SQLInputValue[] = [this.#horizonMs(), sinceMs];
    const add = (condition: string, ...more: readonly SQLInputValue[]) => {
      conditions.push(condition);
      values.push(...more);
    };
    if (untilMs !== undefined) add("received < ?", untilMs);
    if (from !== undefined) add("(received, message_id) <= (?, ?)", from.receivedAtMs, from.messageId);
    if (after !== undefined) add(`${PLACE} < (?, ?, ?, ?, ?, ?)`, ...placeOf(after));
    const listed = `SELECT * FROM ${this.#name} INDEXED BY ${this.#name}_by_receipt
      WHERE ${conditions.join(" AND ")} ORDER BY ${ORDER}`;
    const holds = ["TRUE", ...texts.map(() => "instr(detail, ?) > 0")].join(" AND ");
    const entries = this.#prepare(`SELECT * FROM (${listed} LIMIT ?) WHERE ${holds} LIMIT ?`)
      .all(...values, lookThrough, ...texts, limit)
      .map(toReceived);
    const last = entries.at(-1);
    if (entries.length === limit && last !== undefined) return { entries, end: last };
    const row = this.#prepare(`${listed} LIMIT 1 OFFSET ?`).get(...values, lookThrough - 1);
    return { entries, end: row === undefined ? null : toReceived(row) };
  }

  /** The newest receipt before `untilMs` of each event under these message ids whose entries hold the texts. */
  newest(messageIds: readonly string[], texts: readonly string[], untilMs: number): readonly NewestReceipt[] {
    const holds = texts.map(() => " AND instr(detail, ?) > 0").join("");
    const rows = this.#prepare(
      `SELECT message_id, json_extract(detail, '$.sourceId') AS source, max(received) AS newest
       FROM ${this.#name} INDEXED BY ${this.#name}_by_message
       WHERE segment IN (SELECT value FROM json_each(?)) AND message_id IN (SELECT value FROM json_each(?))
         AND time >= ? AND received < ?${holds}
       GROUP BY message_id, source`,
    ).all(this.#messages.segmentsOf(messageIds), JSON.stringify(messageIds), this.#horizonMs(), untilMs, ...texts);
    return rows.map(({ message_id: messageId, source, newest }) => ({
      ...{ messageId: String(messageId), sourceId: String(source), receivedAtMs: Number(newest) },
    }));
  }

  #prepare(sql: string): StatementSync {
    const held = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, held);
    return held;
  }
}

function placeOf({ receivedAtMs, messageId, timeMs, partition, offset, place }: ReceivedEntry): SQLInputValue[] {
  return [receivedAtMs, messageId, timeMs, partition, offset, place];
}

function toReceived(row: Record<string, unknown>): ReceivedEntry {
  return { ...toEntry(row), receivedAtMs: Number(row["received"]) };
}
