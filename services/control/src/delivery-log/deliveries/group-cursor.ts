/** The cursor of a page of groups of dead letters: the place of the last group. */
import { packCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import type { GroupPlace } from "./dead-letter-groups.ts";

export function encodeGroupCursor({ open, count, name }: GroupPlace): string {
  return packCursor(open, count, name);
}

/** Throws a Problem for any other text. */
export function decodeGroupCursor(cursor: string): GroupPlace {
  const shape = /^(\d{1,16}):(\d{1,16}):(\[.+\])$/s;
  const [open, count, name] = unpackCursor<[string, string, string]>(cursor, shape);
  return { open: Number(open), count: Number(count), name };
}
