/**
 * The index of a projection's entries by message, in segments. Message ids come in no order: in an index of all
 * entries each new one would dirty a page of its own.
 *
 * Owns: the index, and for each of its segments a Bloom filter over the messages in it, which is kept in a table of its
 * own once the segment is full.
 * MI1  An entry is in the segment that was the newest when it was added. A segment is full at `SEGMENT_ENTRIES`: new
 *      entries touch the pages of one segment.
 * MI2  A message is looked for in the segments whose filter may hold it. A filter forgets nothing: no entry is missed.
 * MI3  Segments before the first that has an entry are given up at the next `trim`.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

const SEGMENT_ENTRIES = 50_000;
/** At least so many for each entry: of a thousand segments that do not hold a message, one is looked at. */
const BITS_AN_ENTRY = 20;
const PROBES = 4;

interface Segment {
  readonly number: number;
  readonly filter: Uint32Array;
  entries: number;
}

type Row = Record<string, unknown>;

export class MessageIndex {
  readonly #database: DatabaseSync;
  readonly #name: string;
  readonly #statements = new Map<string, StatementSync>();
  readonly #first: StatementSync;
  readonly #keep: StatementSync;
  readonly #giveUp: StatementSync;
  /** The oldest first. */
  readonly #segments: Segment[] = [];
  readonly #segmentEntries: number;
  /** Of a filter; a power of two. */
  readonly #bits: number;

  /** Makes the index of the table where it does not exist, and reads its messages. */
  constructor(database: DatabaseSync, name: string, segmentEntries = SEGMENT_ENTRIES) {
    this.#database = database;
    this.#name = name;
    this.#segmentEntries = segmentEntries;
    this.#bits = 2 ** Math.ceil(Math.log2(segmentEntries * BITS_AN_ENTRY));
    const index = `${name}_by_message`;
    database.exec(`CREATE INDEX IF NOT EXISTS ${index} ON ${name} (segment, message_id, destination_id)`);
    this.#first = database.prepare(`SELECT min(segment) AS first FROM ${name} INDEXED BY ${index}`);
    const filters = `${name}_filters`;
    database.exec(`CREATE TABLE IF NOT EXISTS ${filters} (segment INTEGER PRIMARY KEY, filter BLOB NOT NULL) STRICT`);
    this.#keep = database.prepare(`INSERT INTO ${filters} VALUES (?, ?)`);
    this.#giveUp = database.prepare(`DELETE FROM ${filters} WHERE segment < ?`);
    this.#read();
  }

  /** The segment of the next entry (MI1). */
  get newest(): number {
    const last = this.#segments.at(-1);
    if (last === undefined) return 0;
    return last.entries < this.#segmentEntries ? last.number : last.number + 1;
  }

  /** Notes that an entry of the message was added to the newest segment. */
  added(messageId: string): void {
    const segment = this.#segmentOf(this.newest);
    this.#note(segment, messageId);
    if (segment.entries === this.#segmentEntries) this.#keep.run(segment.number, new Uint8Array(segment.filter.buffer));
  }

  /** MI3. */
  trim(): void {
    const [oldest, next] = this.#segments;
    if (oldest === undefined || next === undefined) return;
    const first = Number(this.#first.get()?.["first"] ?? this.newest);
    if (oldest.number >= first) return;
    // The newest stays, and the numbers go on from it.
    const gone = this.#segments.findIndex(({ number }) => number >= first);
    this.#segments.splice(0, gone === -1 ? this.#segments.length - 1 : gone);
    this.#giveUp.run(this.#segments[0]?.number ?? first);
  }

  /** The segments that may hold one of these messages, as JSON for SQLite's `json_each` (MI2). */
  segmentsOf(messageIds: readonly string[]): string {
    const hashes = messageIds.map(hashesOf);
    const candidates = this.#segments.filter(({ filter }) => hashes.some((each) => mayHold(filter, each)));
    return JSON.stringify(candidates.map(({ number }) => number));
  }

  /**
   * The columns of a message's entries for which the condition holds, in no order. `values` are those of the
   * condition's parameters.
   */
  rows(columns: string, messageId: string, condition = "TRUE", ...values: readonly SQLInputValue[]): readonly Row[] {
    const hashes = hashesOf(messageId);
    const found: Row[] = [];
    // A loop, since nearly every look is for a message that is new, and finds no segment.
    for (const { number, filter } of this.#segments) {
      if (!mayHold(filter, hashes)) continue;
      // A sender may give any number of events one id, more than a call can have arguments.
      for (const row of this.#prepare(columns, condition).iterate(number, messageId, ...values)) found.push(row);
    }
    return found;
  }

  /** Reads the filters of full segments, and the messages of the newest. */
  #read(): void {
    const name = this.#name;
    const kept = this.#database.prepare(`SELECT segment, filter FROM ${name}_filters ORDER BY segment`).all();
    for (const { segment, filter } of kept) {
      const bits = new Uint32Array(Uint8Array.from(filter as Uint8Array).buffer);
      this.#segments.push({ number: Number(segment), filter: bits, entries: this.#segmentEntries });
    }
    const newest = this.#database.prepare(
      `SELECT segment, message_id FROM ${name} INDEXED BY ${name}_by_message WHERE segment > ?`,
    );
    for (const { segment, message_id: messageId } of newest.iterate(this.#segments.at(-1)?.number ?? -1)) {
      this.#note(this.#segmentOf(Number(segment)), String(messageId));
    }
  }

  #prepare(columns: string, condition: string): StatementSync {
    const name = this.#name;
    const sql = `SELECT ${columns} FROM ${name} INDEXED BY ${name}_by_message
      WHERE segment = ? AND message_id = ? AND ${condition}`;
    const held = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, held);
    return held;
  }

  #segmentOf(number: number): Segment {
    const last = this.#segments.at(-1);
    if (last?.number === number) return last;
    const made = { number, filter: new Uint32Array(this.#bits / 32), entries: 0 };
    this.#segments.push(made);
    return made;
  }

  #note(segment: Segment, messageId: string): void {
    segment.entries += 1;
    const [first, step] = hashesOf(messageId);
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = bitOf(first, step, probe, this.#bits);
      segment.filter[bit >>> 5] = (segment.filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }
}

type Hashes = readonly [first: number, step: number];

/** Two hashes of a text, by FNV-1a with two offsets; the probes are made of them. */
function hashesOf(text: string): Hashes {
  let [first, step] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x01000193);
    step = Math.imul(step ^ unit, 0x5bd1e995);
  }
  return [first ^ (first >>> 15), (step ^ (step >>> 13)) | 1];
}

function bitOf(first: number, step: number, probe: number, bits: number): number {
  const mixed = first + Math.imul(step, probe);
  return (mixed ^ (mixed >>> 16)) & (bits - 1);
}

function mayHold(filter: Uint32Array, [first, step]: Hashes): boolean {
  for (let probe = 0; probe < PROBES; probe += 1) {
    const bit = bitOf(first, step, probe, filter.length * 32);
    if (((filter[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}
