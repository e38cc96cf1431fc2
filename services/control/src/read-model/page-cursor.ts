/** The cursor of a projection's page: the last entry's place as a text. */
import { refusedCursor } from "../http/list-cursor.ts";
import type { ProjectionCursor } from "./projection-cursor.ts";

export function encodeCursor({ timeMs, partition, offset, place }: ProjectionCursor): string {
  return Buffer.from([timeMs, partition, offset, place].join(":")).toString("base64url");
}

/** Throws a Problem for any other text. */
export function decodeCursor(cursor: string): ProjectionCursor {
  const text = Buffer.from(cursor, "base64url").toString();
  const [timeMs, partition, offset, place] = /^\d{1,15}(:\d{1,15}){3}$/.test(text) ? text.split(":").map(Number) : [];
  if (timeMs === undefined || partition === undefined || offset === undefined || place === undefined)
    throw refusedCursor();
  return { timeMs, partition, offset, place };
}
