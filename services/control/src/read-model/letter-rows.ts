/**
 * The dead letters once more, each a narrow row in the order of its topic: a million of them are read in the time that
 * a few ten thousand entries take. Plans count them.
 *
 * Owns: the rows, and once what letters have in common.
 * NR1  There is a row for each letter that the journal holds, and for no other.
 * NR2  A row is marked where an attempt of its message and destination began no sooner than the letter died, whichever
 *      of the two is read first. The attempt may have been dropped since.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LetterFacts } from "@posthaste/core/replay/letter-filter";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import type { JournalEntry } from "./journal-entry.ts";

/** What letters that are told apart by nothing else have in common. */
export interface AlikeLetters extends Pick<LetterFacts, "destinationId" | "reason" | "sourceId" | "type" | "errors"> {
  /** Rows name it. */
  readonly id: number;
}

export interface LetterRowsQuery extends PlannedRange {
  readonly limit: number;
  readonly withUsers: boolean;
}

/** Rows of a partition by their offsets, column by column. */
export interface LetterRows {
  readonly offsets: Float64Array;
  readonly timesMs: Float64Array;
  /** See AlikeLetters. */
  readonly alike: Float64Array;
  /** 1 for a row that is marked (NR2). */
  readonly tried: Uint8Array;
  /** See JournalEntry, those of one row after those of another; where each row's end. Empty where nobody asked. */
  readonly users: Uint8Array;
  readonly userEnds: Uint32Array;
}

/** Out of an entry's detail. */
const COMMON = `?1, ?2, ifnull(json_extract(?3, '$.sourceId'), ''), ifnull(json_extract(?3, '$.type'), ''),
  ifnull(json_extract(?3, '$.errors'), '[]')`;
const COMMON_COLUMNS = "destination_id, kind, source_id, type, errors";

type Row = readonly [number, number, number, number, string?];

export class LetterRowTable {
  readonly #database: DatabaseSync;
  readonly #common: StatementSync;
  readonly #add: StatementSync;
  readonly #mark: StatementSync;
  readonly #remove: StatementSync;
  readonly #take: StatementSync;
  readonly #dropEmpty: StatementSync;

  /** `journal`: the name of the letters' table, which is there already. */
  constructor(database: DatabaseSync, journal: string) {
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
      CREATE TABLE IF NOT EXISTS letter_rows (
        log_partition INTEGER NOT NULL,
        log_offset INTEGER NOT NULL,
        time INTEGER NOT NULL,
        alike INTEGER NOT NULL,
        tried INTEGER NOT NULL,
        users BLOB NOT NULL,
        PRIMARY KEY (log_partition, log_offset)
      ) WITHOUT ROWID, STRICT;
    `);
    this.#common = database.prepare(`
      INSERT INTO letters_alike (${COMMON_COLUMNS}, entries) VALUES (${COMMON}, 1)
      ON CONFLICT DO UPDATE SET entries = entries + 1 RETURNING id`);
    this.#add = database.prepare("INSERT OR REPLACE INTO letter_rows VALUES (?, ?, ?, ?, ?, ?)");
    this.#mark = database.prepare(`
      UPDATE letter_rows SET tried = 1 WHERE (log_partition, log_offset) IN (
        SELECT log_partition, log_offset FROM ${journal} INDEXED BY ${journal}_by_message
        WHERE message_id = ? AND time <= ? AND destination_id = ?)`);
    this.#remove = database.prepare(
      "DELETE FROM letter_rows WHERE (log_partition, log_offset) = (?, ?) RETURNING alike",
    );
    this.#take = database.prepare("UPDATE letters_alike SET entries = entries - 1 WHERE id = ?");
    this.#dropEmpty = database.prepare("DELETE FROM letters_alike WHERE id = ? AND entries <= 0");
  }

  /** Of a letter that the journal did not hold before. */
  add({ partition, offset, timeMs, destinationId, kind, detail, users }: JournalEntry, isTried: boolean): void {
    const id = Number(this.#common.get(destinationId, kind, detail)?.["id"]);
    this.#add.run(partition, offset, timeMs, id, isTried ? 1 : 0, Buffer.from(users, "latin1"));
  }

  remove({ partition, offset }: Pick<JournalEntry, "partition" | "offset">): void {
    const id = this.#remove.get(partition, offset)?.["alike"];
    if (id === undefined) return;
    this.#take.run(id);
    this.#dropEmpty.run(id);
  }

  /** NR2, of an attempt. */
  mark({ messageId, destinationId, timeMs }: Pick<JournalEntry, "messageId" | "destinationId" | "timeMs">): void {
    this.#mark.run(messageId, timeMs, destinationId);
  }

  alike(): readonly AlikeLetters[] {
    const rows = this.#database.prepare(`SELECT id, ${COMMON_COLUMNS} FROM letters_alike`).all();
    return rows.map((row) => ({
      id: Number(row["id"]),
      destinationId: String(row["destination_id"]),
      // The journal holds what was put into it.
      reason: String(row["kind"]) as AlikeLetters["reason"],
      sourceId: String(row["source_id"]),
      type: String(row["type"]) as AlikeLetters["type"],
      errors: JSON.parse(String(row["errors"])) as readonly string[],
    }));
  }

  /** By offset, the lowest first. */
  rows({ partition, start, end, limit, withUsers }: LetterRowsQuery): LetterRows {
    const statement = this.#database.prepare(`
      SELECT log_offset, time, alike, tried${withUsers ? ", hex(users)" : ""} FROM letter_rows
      WHERE log_partition = ? AND log_offset >= ? AND log_offset < ? ORDER BY log_offset LIMIT ?`);
    // An array takes a quarter of the time of an object, and a text less than bytes.
    statement.setReturnArrays(true);
    const rows = statement.all(partition, start, end, limit) as unknown as readonly Row[];
    return columnsOf(rows, withUsers);
  }
}

function columnsOf(rows: readonly Row[], withUsers: boolean): LetterRows {
  const { length } = rows;
  const [offsets, timesMs, alike] = [new Float64Array(length), new Float64Array(length), new Float64Array(length)];
  const [tried, userEnds] = [new Uint8Array(length), new Uint32Array(withUsers ? length : 0)];
  const users: string[] = [];
  let [index, userEnd] = [0, 0];
  for (const row of rows) {
    offsets[index] = row[0];
    timesMs[index] = row[1];
    alike[index] = row[2];
    tried[index] = row[3];
    if (withUsers) {
      const hex = row[4] ?? "";
      users.push(hex);
      userEnd += hex.length / 2;
      userEnds[index] = userEnd;
    }
    index += 1;
  }
  return { offsets, timesMs, alike, tried, users: Buffer.from(users.join(""), "hex"), userEnds };
}
