/** The cursor of a page of unreadable records: the last entry's name as a text. */
import { refusedCursor } from "../http/list-cursor.ts";
import type { EntryName } from "./unreadable-entries.ts";

export function encodeUnreadableCursor({ atMs, topic, partition, offset }: EntryName): string {
  return Buffer.from([atMs, partition, offset, topic].join(":")).toString("base64url");
}

/** Throws a Problem for any other text. */
export function decodeUnreadableCursor(cursor: string): EntryName {
  const text = Buffer.from(cursor, "base64url").toString();
  const [, atMs, partition, offset, topic] = /^(\d{1,15}):(\d{1,15}):(\d{1,15}):(.+)$/s.exec(text) ?? [];
  if (topic === undefined) throw refusedCursor();
  return { atMs: Number(atMs), topic, partition: Number(partition), offset: Number(offset) };
}
