/** The cursor of a page of groups: the last group's place as a text. */
import { refusedCursor } from "../http/list-cursor.ts";
import type { GroupPlace } from "./letter-groups.ts";

export function encodeGroupCursor({ count, name }: GroupPlace): string {
  return Buffer.from(`${count}:${name}`).toString("base64url");
}

/** Throws a Problem for any other text. */
export function decodeGroupCursor(cursor: string): GroupPlace {
  const [, count, name] = /^(\d{1,16}):(\[.+\])$/s.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (count === undefined || name === undefined) throw refusedCursor();
  return { count: Number(count), name };
}
