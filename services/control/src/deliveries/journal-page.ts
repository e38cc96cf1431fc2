/** A journal's entries as one page of a list. */
import type { Freshness } from "../http/freshness.ts";
import type { Page } from "../http/page.ts";
import type { JournalEntry, JournalFilter } from "../read-model/journal.ts";
import { decodeCursor, encodeCursor } from "../read-model/journal-cursor.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import type { JournalName } from "../read-model/store.ts";

export async function journalPage<T>(
  readModel: ReadModel,
  journal: JournalName,
  { limit, cursor, ...filter }: JournalFilter & { readonly limit: number; readonly cursor?: string | undefined },
  view: (entry: JournalEntry) => T,
): Promise<Page<T> & Freshness> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const fresh = readModel.freshness(journal);
  // One more than is shown tells whether there is another page.
  const entries = await readModel.newest(journal, { ...filter, limit: limit + 1, after });
  const shown = entries.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor = last !== undefined && entries.length > limit ? encodeCursor(last) : null;
  return { data: shown.map(view), nextCursor, ...fresh };
}
