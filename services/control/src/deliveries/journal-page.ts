/** A journal's entries as one page of a list. */
import { z } from "zod";
import { pageOf } from "../http/page.ts";
import type { JournalEntry, JournalFilter } from "../read-model/journal.ts";
import { decodeCursor, encodeCursor } from "../read-model/journal-cursor.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import type { JournalName } from "../read-model/store.ts";

/** The answer's schema for entries of `entry`. */
export function journalPageOf<Entry extends z.ZodType>(entry: Entry) {
  return pageOf(entry).extend({ complete: isComplete });
}

export const isComplete = z
  .boolean()
  .describe("False while control is still reading the topic: entries may be missing, the newest ones most of all.");

export interface JournalPage<T> {
  readonly data: T[];
  readonly nextCursor: string | null;
  readonly complete: boolean;
}

export async function journalPage<T>(
  readModel: ReadModel,
  journal: JournalName,
  { limit, cursor, ...filter }: JournalFilter & { readonly limit: number; readonly cursor?: string | undefined },
  view: (entry: JournalEntry) => T,
): Promise<JournalPage<T>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const complete = readModel.isComplete(journal);
  // One more than is shown tells whether there is another page.
  const entries = await readModel.newest(journal, { ...filter, limit: limit + 1, after });
  const shown = entries.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor = last !== undefined && entries.length > limit ? encodeCursor(last) : null;
  return { data: shown.map(view), nextCursor, complete };
}
