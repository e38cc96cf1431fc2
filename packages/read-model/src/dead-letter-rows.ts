/**
 * The dead letters once more, each as a narrow row in the order of its topic: reading a million rows takes as long as a
 * few ten thousand entries. Plans count the rows.
 *
 * Owns: the rows and, each once, the groups of dead letters with their common fields, and the names of their events.
 * NR1  There is a row for each dead letter that the projection holds, and for no other.
 * NR2  A row is marked where an attempt of its message and destination began no sooner than the dead letter died,
 *      whichever of the two is read first. The projection of attempts may have dropped the attempt since.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeadLetterFacts } from "@posthaste/core/replay/dead-letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { factsFromEntry } from "./dead-letter-entry.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

/** Stands for no user, and for no event. */
const NONE = 0;

const AT = { offset: 0, timeMs: 8, groupId: 16, event: 20, user: 24, otherUser: 28, userBytes: 32 } as const;

const NUMBERS_BYTES = 34;

/** SQLite appends a digit to the numbers, which tells whether the row is marked. */
const ROW_BYTES = NUMBERS_BYTES + 1;

const MARKED = 49;

/** The fields that many dead letters have in common. */
export interface GroupedDeadLetters
  extends Pick<DeadLetterFacts, "destinationId" | "reason" | "sourceId" | "type" | "errors"> {
  /** The id by which rows refer to these fields. */
  readonly id: number;
}

export interface DeadLetterRowsQuery extends PlannedRange {
  readonly limit: number;
  readonly withUsers: boolean;
}

const COMMON_COLUMNS = "destination_id, kind, source_id, type, errors";

export class DeadLetterRowTable {
  readonly #database: DatabaseSync;
  readonly #common: StatementSync;
  readonly #event: StatementSync;
  readonly #add: StatementSync;
  readonly #mark: StatementSync;
  readonly #remove: StatementSync;
  readonly #take: readonly StatementSync[];
  readonly #takeEvent: readonly StatementSync[];

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(`
      CREATE TABLE IF NOT EXISTS letters_alike (
        id INTEGER PRIMARY KEY,
        destination_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        source_id TEXT NOT NULL,
        type TEXT NOT NULL,
        errors TEXT NOT NULL,
        entries INTEGER NOT NULL,
        UNIQUE (${COMMON_COLUMNS})
      ) STRICT;
      CREATE TABLE IF NOT EXISTS letter_events (
        id INTEGER PRIMARY KEY, event TEXT NOT NULL UNIQUE, entries INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE IF NOT EXISTS letter_rows (
        log_partition INTEGER NOT NULL,
        log_offset INTEGER NOT NULL,
        alike INTEGER NOT NULL,
        event INTEGER NOT NULL,
        numbers BLOB NOT NULL,
        tried INTEGER NOT NULL,
        users BLOB NOT NULL,
        PRIMARY KEY (log_partition, log_offset)
      ) WITHOUT ROWID, STRICT;
    `);
    this.#common = database.prepare(`
      INSERT INTO letters_alike (${COMMON_COLUMNS}, entries) VALUES (?, ?, ?, ?, ?, 1)
      ON CONFLICT DO UPDATE SET entries = entries + 1 RETURNING id`);
    this.#event = database.prepare(`
      INSERT INTO letter_events (event, entries) VALUES (?, 1)
      ON CONFLICT DO UPDATE SET entries = entries + 1 RETURNING id`);
    this.#add = database.prepare("INSERT OR REPLACE INTO letter_rows VALUES (?, ?, ?, ?, ?, ?, ?)");
    // A row that is marked already is left alone, with its entry in the index of `group-counts.ts`.
    this.#mark = database.prepare(
      "UPDATE letter_rows SET tried = 1 WHERE (log_partition, log_offset) = (?, ?) AND tried = 0",
    );
    this.#remove = database.prepare(
      "DELETE FROM letter_rows WHERE (log_partition, log_offset) = (?, ?) RETURNING alike, event",
    );
    const taken = (table: string): readonly StatementSync[] => [
      database.prepare(`UPDATE ${table} SET entries = entries - 1 WHERE id = ?`),
      database.prepare(`DELETE FROM ${table} WHERE id = ? AND entries <= 0`),
    ];
    this.#take = taken("letters_alike");
    this.#takeEvent = taken("letter_events");
  }

  /** Adds the row of a dead letter that the projection did not hold before. */
  add(entry: ProjectionEntry, isTried: boolean): void {
    const { partition, offset, timeMs, destinationId, kind } = entry;
    const { sourceId, type, errors, event, userIds } = factsFromEntry(entry);
    const groupId = Number(this.#common.get(destinationId, kind, sourceId, type, JSON.stringify(errors))?.["id"]);
    const eventId = event === null ? NONE : Number(this.#event.get(event)?.["id"]);
    const [user = NONE, otherUser = NONE] = userIds.map(textHash);
    const users = Buffer.from(entry.users, "latin1");
    const numbers = { offset, timeMs, groupId, event: eventId, user, otherUser, userBytes: users.length };
    this.#add.run(partition, offset, groupId, eventId, packNumbers(numbers), isTried ? 1 : 0, users);
  }

  remove({ partition, offset }: Pick<ProjectionEntry, "partition" | "offset">): void {
    const row = this.#remove.get(partition, offset);
    if (row === undefined) return;
    for (const statement of this.#take) statement.run(row["alike"] ?? null);
    for (const statement of this.#takeEvent) statement.run(row["event"] ?? null);
  }

  /** NR2, of a dead letter that an attempt followed. */
  mark({ partition, offset }: Pick<ProjectionEntry, "partition" | "offset">): void {
    this.#mark.run(partition, offset);
  }

  /** All groups that have a dead letter. */
  groups(): readonly GroupedDeadLetters[] {
    const rows = this.#database.prepare(`SELECT id, ${COMMON_COLUMNS} FROM letters_alike`).all();
    return rows.map((row) => ({
      id: Number(row["id"]),
      destinationId: String(row["destination_id"]),
      // The database holds the values that this file wrote.
      reason: String(row["kind"]) as GroupedDeadLetters["reason"],
      sourceId: String(row["source_id"]),
      type: String(row["type"]) as GroupedDeadLetters["type"],
      errors: JSON.parse(String(row["errors"])) as readonly string[],
    }));
  }

  /** The id by which rows refer to an event's name; null where no letter has it. */
  eventId(event: string): number | null {
    const id = this.#database.prepare("SELECT id FROM letter_events WHERE event = ?").get(event)?.["id"];
    return id === undefined ? null : Number(id);
  }

  /** The rows by offset, the lowest first. */
  rows({ partition, start, end, limit, withUsers }: DeadLetterRowsQuery): DeadLetterRows {
    // SQLite concatenates the rows: handing over a value for each would take three times as long.
    const found = this.#database
      .prepare(`
        SELECT CAST(group_concat(numbers || tried, '') AS BLOB) AS rows,
          CAST(group_concat(${withUsers ? "users" : "NULL"}, '') AS BLOB) AS users
        FROM (
          SELECT numbers, tried, users FROM letter_rows
          WHERE log_partition = ? AND log_offset >= ? AND log_offset < ? ORDER BY log_offset LIMIT ?
        )`)
      .get(partition, start, end, limit);
    return { rows: bytesOf(found?.["rows"]), users: bytesOf(found?.["users"]) };
  }
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

interface DeadLetterNumbers {
  readonly offset: number;
  readonly timeMs: number;
  /** See GroupedDeadLetters. */
  readonly groupId: number;
  /** The id of the event's name, as `DeadLetterRowTable.eventId` returns it; NONE without a name. */
  readonly event: number;
  /** The users that it is about, as `textHash` makes them, two for an alias; NONE for no user. */
  readonly user: number;
  readonly otherUser: number;
  /** The bytes of its users' digests (see ProjectionEntry). */
  readonly userBytes: number;
}

function packNumbers(numbers: DeadLetterNumbers): Uint8Array {
  const bytes = new Uint8Array(NUMBERS_BYTES);
  const view = new DataView(bytes.buffer);
  view.setFloat64(AT.offset, numbers.offset);
  view.setFloat64(AT.timeMs, numbers.timeMs);
  view.setUint32(AT.groupId, numbers.groupId);
  view.setUint32(AT.event, numbers.event);
  view.setUint32(AT.user, numbers.user);
  view.setUint32(AT.otherUser, numbers.otherUser);
  view.setUint16(AT.userBytes, numbers.userBytes);
  return bytes;
}

/** Rows of a partition by their offsets. */
export interface DeadLetterRows {
  /** The numbers and mark of each row, one row after the other. */
  readonly rows: Uint8Array;
  /** The digests of each row, one row after the other; empty where the caller did not ask for them. */
  readonly users: Uint8Array;
}

/** A dead letter by its row. */
export interface DeadLetterRow extends DeadLetterNumbers {
  readonly partition: number;
  /** NR2 of dead-letter-rows.ts. */
  readonly isTried: boolean;
  /** See ProjectionEntry; empty where the caller did not ask for them. */
  readonly users: string;
}

export function lengthOfRows({ rows }: DeadLetterRows): number {
  return rows.length / ROW_BYTES;
}

/** The offset of the last row; undefined where there is none. */
export function lastOffset({ rows }: DeadLetterRows): number | undefined {
  if (rows.length === 0) return undefined;
  return new DataView(rows.buffer, rows.byteOffset, rows.byteLength).getFloat64(rows.length - ROW_BYTES + AT.offset);
}

/** Calls `visit` for each row, each time with the same object. */
export function eachRow({ rows, users }: DeadLetterRows, partition: number, visit: (row: DeadLetterRow) => void): void {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.byteLength);
  const texts = Buffer.from(users.buffer, users.byteOffset, users.byteLength).toString("latin1");
  const numbers = { offset: 0, timeMs: 0, groupId: 0, event: 0, user: 0, otherUser: 0, userBytes: 0 };
  const row = { ...numbers, partition, isTried: false, users: "" };
  let usersAt = 0;
  for (let at = 0; at < rows.length; at += ROW_BYTES) {
    row.offset = view.getFloat64(at + AT.offset);
    row.timeMs = view.getFloat64(at + AT.timeMs);
    row.groupId = view.getUint32(at + AT.groupId);
    row.event = view.getUint32(at + AT.event);
    row.user = view.getUint32(at + AT.user);
    row.otherUser = view.getUint32(at + AT.otherUser);
    row.userBytes = view.getUint16(at + AT.userBytes);
    row.isTried = view.getUint8(at + NUMBERS_BYTES) === MARKED;
    if (texts !== "") {
      row.users = texts.slice(usersAt, usersAt + row.userBytes);
      usersAt += row.userBytes;
    }
    visit(row);
  }
}

/** The same number for equal texts; two different texts may share one. Never NONE. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // 31 bits: V8 stores larger numbers outside the row's object.
  return hash >>> 1 || 1;
}
