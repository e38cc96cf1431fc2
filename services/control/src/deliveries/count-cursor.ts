/** The cursor of a page of counts: the last count's destination and kind as a text. */
import { refusedCursor } from "../http/list-cursor.ts";
import type { CountedKind } from "../read-model/projection.ts";

export function encodeCountCursor({ destinationId, kind }: CountedKind): string {
  return Buffer.from(`${kind}:${destinationId}`).toString("base64url");
}

/** Throws a Problem for any other text. */
export function decodeCountCursor(cursor: string): CountedKind {
  const [, kind, destinationId] = /^([a-z_]+):(.+)$/s.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (kind === undefined || destinationId === undefined) throw refusedCursor();
  return { kind, destinationId };
}
