/** The cursor of a page of groups: the last group's place as a text. */
import { refusedCursor } from "../http/list-cursor.ts";
import type { GroupPlace } from "./dead-letter-groups.ts";

export function encodeGroupCursor({ open, count, name }: GroupPlace): string {
  return Buffer.from(`${open}:${count}:${name}`).toString("base64url");
}

/** Throws a Problem for any other text. */
export function decodeGroupCursor(cursor: string): GroupPlace {
  const place = /^(\d{1,16}):(\d{1,16}):(\[.+\])$/s.exec(Buffer.from(cursor, "base64url").toString());
  const [, open, count, name] = place ?? [];
  if (open === undefined || count === undefined || name === undefined) throw refusedCursor();
  return { open: Number(open), count: Number(count), name };
}
