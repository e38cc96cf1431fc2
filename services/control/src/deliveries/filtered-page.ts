/**
 * A page of a journal whose entries have to be looked at one by one: the journal finds some, by its index and by the
 * texts that they hold, and `shows` picks among them. A page ends early where enough was looked through, and says up to
 * when.
 */

import type { JournalCursor } from "../read-model/journal-cursor.ts";
import type { JournalEntry, JournalFilter } from "../read-model/journal-entry.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import type { JournalName } from "../read-model/store.ts";

/** Entries that are looked through for one page. What lies beyond is for the next. */
const MAX_LOOKED = 20_000;
/** Entries that are asked for at a time, once those that fill the page did not all fit. */
const STEP = 2000;

export interface FilteredQuery {
  /** What the journal finds by itself. */
  readonly filter: JournalFilter;
  /** What stands in the detail of every entry that `shows` takes. */
  readonly texts: readonly string[];
  readonly limit: number;
  readonly after?: JournalCursor | undefined;
  /** Whether an entry is shown; asked in the order of the list. Null where all are. */
  readonly shows: ((entry: JournalEntry) => boolean) | null;
}

export interface FilteredPage {
  /** Newest first. */
  readonly entries: readonly JournalEntry[];
  /** Where the next page begins; null on the last. */
  readonly next: JournalCursor | null;
  /** The page ended early, at this moment, since enough was looked through; null for any other. */
  readonly searchedToMs: number | null;
}

export async function filteredPage(
  readModel: Pick<ReadModel, "search">,
  journal: JournalName,
  { filter, texts, limit, after, shows }: FilteredQuery,
): Promise<FilteredPage> {
  const entries: JournalEntry[] = [];
  let last: JournalCursor | undefined = after;
  let [size, looked] = [limit + 1, 0];
  while (looked < MAX_LOOKED) {
    const asked = { ...filter, texts, limit: size, lookThrough: MAX_LOOKED, after: last };
    const { entries: found, end } = await readModel.search(journal, asked);
    for (const entry of found) {
      const isShown = shows?.(entry) ?? true;
      if (isShown && entries.length === limit) return { entries, next: last ?? null, searchedToMs: null };
      if (isShown) entries.push(entry);
      last = entry;
    }
    if (end === null) return { entries, next: null, searchedToMs: null };
    last = end;
    // Where fewer were found than asked for, all that may be looked through was.
    looked += found.length < size ? MAX_LOOKED : found.length;
    size = Math.max(limit + 1, STEP);
  }
  return { entries, next: last ?? null, searchedToMs: last?.timeMs ?? null };
}
