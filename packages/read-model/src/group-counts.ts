/**
 * The size of each group of dead letters within ranges of their topic, and the rows of the few that something sets
 * apart: so a plan of a million dead letters is counted without a look at a million rows.
 *
 * Owns: the index of the rows that are marked (NR2 of dead-letter-rows.ts).
 * LK1  Each row of the ranges is counted once: among the dead letters that it is like, or as a row apart. Both are of
 *      one moment.
 * LK2  The cost depends on the number of groups, and of the rows that are apart or outside of the
 *      ranges; where more of these would be looked at than the caller allows, there is no answer.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import type { DeadLetterRows } from "./dead-letter-rows.ts";
import type { ProjectionCursor } from "./projection-entry.ts";

export interface GroupCountsQuery {
  readonly ranges: readonly PlannedRange[];
  /** The groups, by `GroupedDeadLetters.id`, of which every row is asked for. */
  readonly apart: readonly number[];
  /** The groups of which the newest dead letters are asked for, and how many dead letters of all of them. */
  readonly newestOf: readonly number[];
  readonly newest: number;
  /** The most rows that are looked at (LK2). */
  readonly most: number;
}

export interface GroupCounts {
  /**
   * For each group, by `GroupedDeadLetters.id`, how many of its dead letters are in the ranges and not among `apart`.
   */
  readonly counts: ReadonlyMap<number, number>;
  /** The rows of marked dead letters, and of the groups that were asked for; without users. */
  readonly apart: readonly RowsApart[];
  /** The newest dead letters of `newestOf` that are among the counted, newest first. */
  readonly newest: readonly ProjectionCursor[];
}

export interface RowsApart extends DeadLetterRows {
  readonly partition: number;
}

interface Row {
  readonly partition: number;
  readonly offset: number;
  readonly groupId: number;
  readonly bytes: Uint8Array;
}

/** Dead letters of one group. */
interface Group {
  readonly id: number;
  readonly destinationId: string;
  readonly kind: string;
  readonly entries: number;
}

type IsIn = (partition: number, offset: number) => boolean;

const NOBODY = new Uint8Array();
const ROW_COLUMNS = `
  letter_rows.log_partition, letter_rows.log_offset, alike, CAST(numbers || tried AS BLOB) AS bytes`;

export class GroupCounter {
  readonly #groups: StatementSync;
  readonly #between: StatementSync;
  readonly #marked: StatementSync;
  readonly #unmarked: StatementSync;
  readonly #newest: StatementSync;

  /** `projection`: the name of the projection of dead letters. Its table and the table of the rows exist already. */
  constructor(database: DatabaseSync, projection: string) {
    database.exec(`
      CREATE INDEX IF NOT EXISTS letter_rows_marked ON letter_rows (log_partition, log_offset) WHERE tried = 1;
    `);
    const ofDeadLetter = `letter_rows
      ON (letter_rows.log_partition, letter_rows.log_offset) = (letter.log_partition, letter.log_offset)`;
    this.#groups = database.prepare("SELECT id, destination_id, kind, entries FROM letters_alike");
    this.#between = database.prepare(`
      SELECT alike FROM letter_rows
      WHERE (log_partition, log_offset) >= (?, ?) AND (log_partition, log_offset) < (?, ?) LIMIT ?`);
    this.#marked = database.prepare(`
      SELECT ${ROW_COLUMNS} FROM letter_rows INDEXED BY letter_rows_marked
      WHERE tried = 1 AND log_partition = ? AND log_offset >= ? AND log_offset < ? LIMIT ?`);
    this.#unmarked = database.prepare(`
      SELECT ${ROW_COLUMNS} FROM ${projection} AS letter INDEXED BY ${projection}_by_destination CROSS JOIN ${ofDeadLetter}
      WHERE letter.destination_id = ? AND letter.kind = ? AND tried = 0`);
    this.#newest = database.prepare(`
      SELECT letter.time, letter.log_partition, letter.log_offset, alike, tried
      FROM ${projection} AS letter NOT INDEXED CROSS JOIN ${ofDeadLetter}
      ORDER BY letter.time DESC, letter.log_partition DESC, letter.log_offset DESC, letter.place DESC LIMIT ?`);
  }

  /** LK1; null where LK2 says so. */
  counts(query: GroupCountsQuery): GroupCounts | null {
    const groups = this.#groups.all().map(toGroup);
    const isIn = isInOf(query.ranges);
    const apart = this.#apart(groups, query, isIn);
    const outside = apart === null ? null : this.#outside(query, query.most - apart.length);
    if (apart === null || outside === null) return null;
    const counts = new Map(groups.map(({ id, entries }) => [id, entries]));
    for (const groupId of outside) counts.set(groupId, (counts.get(groupId) ?? 0) - 1);
    for (const { groupId } of apart) counts.set(groupId, (counts.get(groupId) ?? 0) - 1);
    const newest = this.#newestOf(query, counts, isIn);
    return newest === null ? null : { counts, apart: packed(apart), newest };
  }

  /** The rows of the ranges that are marked or of a group that is asked for; null where they are too many. */
  #apart(groups: readonly Group[], { ranges, apart, most }: GroupCountsQuery, isIn: IsIn): readonly Row[] | null {
    const rows = ranges.flatMap(({ partition, start, end }) =>
      this.#marked.all(partition, start, end, most + 1).map(toRow),
    );
    const asked = new Set(apart);
    const byName = new Map(groups.filter(({ id }) => asked.has(id)).map((group) => [nameOf(group), group]));
    // The index of dead letters is by destination and reason, which groups that were not asked for may have too.
    const ofThem = groups.filter((group) => byName.has(nameOf(group)));
    if (ofThem.reduce((sum, { entries }) => sum + entries, rows.length) > most) return null;
    for (const { destinationId, kind } of byName.values()) {
      const found = this.#unmarked.all(destinationId, kind).map(toRow);
      rows.push(...found.filter(({ partition, offset, groupId }) => asked.has(groupId) && isIn(partition, offset)));
    }
    return rows;
  }

  /** For each row outside of the ranges the group of its dead letter; null where they are too many. */
  #outside({ ranges }: GroupCountsQuery, most: number): readonly number[] | null {
    const outside: number[] = [];
    let from: readonly [number, number] = [0, 0];
    const ascending = ranges.toSorted((a, b) => a.partition - b.partition || a.start - b.start);
    const last = { partition: Number.MAX_SAFE_INTEGER, start: 0, end: 0 };
    for (const { partition, start, end } of [...ascending, last]) {
      const rows = this.#between.all(...from, partition, start, most - outside.length + 1);
      for (const { alike: groupId } of rows) outside.push(Number(groupId));
      if (outside.length > most) return null;
      from = [partition, end];
    }
    return outside;
  }

  /** Null where more dead letters must be looked at than the caller allows. */
  #newestOf({ newestOf, newest, most }: GroupCountsQuery, counts: ReadonlyMap<number, number>, isIn: IsIn) {
    const asked = new Set(newestOf);
    const all = newestOf.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
    const wanted = Math.min(newest, all);
    const found: ProjectionCursor[] = [];
    if (wanted === 0) return found;
    for (const row of this.#newest.iterate(most)) {
      const { time, log_partition, log_offset, alike: groupId, tried } = row;
      const [partition, offset] = [Number(log_partition), Number(log_offset)];
      if (Number(tried) === 1 || !asked.has(Number(groupId)) || !isIn(partition, offset)) continue;
      found.push({ timeMs: Number(time), partition, offset, place: 0 });
      if (found.length === wanted) return found;
    }
    return null;
  }
}

function isInOf(ranges: readonly PlannedRange[]): IsIn {
  const byPartition = new Map(ranges.map((range) => [range.partition, range]));
  return (partition, offset) => {
    const range = byPartition.get(partition);
    return range !== undefined && offset >= range.start && offset < range.end;
  };
}

function toGroup({ id, destination_id, kind, entries }: Readonly<Record<string, unknown>>): Group {
  return { id: Number(id), destinationId: String(destination_id), kind: String(kind), entries: Number(entries) };
}

function nameOf({ destinationId, kind }: Group): string {
  return `${destinationId} ${kind}`;
}

function toRow(row: Readonly<Record<string, unknown>>): Row {
  const { log_partition: partition, log_offset: offset, alike: groupId, bytes } = row;
  return {
    ...{ partition: Number(partition), offset: Number(offset), groupId: Number(groupId) },
    bytes: bytes instanceof Uint8Array ? bytes : NOBODY,
  };
}

/** The rows of each partition in one piece, by offset. */
function packed(rows: readonly Row[]): readonly RowsApart[] {
  const byPartition = new Map<number, Row[]>();
  for (const row of rows) {
    const others = byPartition.get(row.partition);
    if (others === undefined) byPartition.set(row.partition, [row]);
    else others.push(row);
  }
  return [...byPartition].map(([partition, ofIt]) => {
    const inOrder = ofIt.sort((a, b) => a.offset - b.offset).map(({ bytes }) => bytes);
    return { partition, rows: new Uint8Array(Buffer.concat(inOrder)), users: NOBODY };
  });
}
