/** The cursor of a journal's page: the last entry's place as a text. */
import { refusedCursor } from "../http/list-cursor.ts";

/** What orders a journal: an entry's time, then its place in its topic. */
export interface JournalCursor {
  readonly timeMs: number;
  readonly partition: number;
  readonly offset: number;
  /** The entry's number among the entries of its record. */
  readonly place: number;
}

/** Below 0 where `one` comes before `other`. */
export function newestFirst(one: JournalCursor, other: JournalCursor): number {
  return (
    other.timeMs - one.timeMs || other.partition - one.partition || other.offset - one.offset || other.place - one.place
  );
}

export function encodeCursor({ timeMs, partition, offset, place }: JournalCursor): string {
  return Buffer.from([timeMs, partition, offset, place].join(":")).toString("base64url");
}

/** Throws a Problem for any other text. */
export function decodeCursor(cursor: string): JournalCursor {
  const text = Buffer.from(cursor, "base64url").toString();
  const [timeMs, partition, offset, place] = /^\d{1,15}(:\d{1,15}){3}$/.test(text) ? text.split(":").map(Number) : [];
  if (timeMs === undefined || partition === undefined || offset === undefined || place === undefined)
    throw refusedCursor();
  return { timeMs, partition, offset, place };
}
