/** The cursor of a page of the delivery log: the place of its last entry. */

import { packCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import type { ProjectionCursor } from "@posthaste/read-model/projection-entry";

export function encodeCursor({ timeMs, partition, offset, place }: ProjectionCursor): string {
  return packCursor(timeMs, partition, offset, place);
}

/** Throws a Problem for any other text. */
export function decodeCursor(cursor: string): ProjectionCursor {
  const shape = /^(\d{1,15}):(\d{1,15}):(\d{1,15}):(\d{1,15})$/;
  const [timeMs, partition, offset, place] = unpackCursor<[string, string, string, string]>(cursor, shape);
  return { timeMs: Number(timeMs), partition: Number(partition), offset: Number(offset), place: Number(place) };
}
