/** A row of `dead-letter-rows.ts` as bytes of one width, so that many rows are handed over in one piece. */

/** Stands for no user, and for no event. */
export const NONE = 0;

export interface DeadLetterNumbers {
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

const AT = { offset: 0, timeMs: 8, groupId: 16, event: 20, user: 24, otherUser: 28, userBytes: 32 } as const;
const NUMBERS_BYTES = 34;
/** SQLite appends a digit to the numbers, which tells whether the row is marked. */
const ROW_BYTES = NUMBERS_BYTES + 1;
const MARKED = 49;

export function packNumbers(numbers: DeadLetterNumbers): Uint8Array {
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
