/**
 * A page of a journal whose entries have to be looked at one by one: the journal's index finds some, and `shows` picks
 * among them. A page ends early where enough was looked through, and says up to when.
 */
import type { JournalEntry, JournalFilter } from "../read-model/journal.ts";
import type { JournalCursor } from "../read-model/journal-cursor.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import type { JournalName } from "../read-model/store.ts";

/** Entries that are looked through at a time. */
const STEP = 2000;
/** For one page: 20,000 entries. What lies beyond is for the next. */
const MAX_STEPS = 10;

export interface FilteredQuery {
  /** What the journal finds by itself. */
  readonly filter: JournalFilter;
  readonly limit: number;
  readonly after?: JournalCursor | undefined;
  /** Whether an entry is shown; asked of each in the order of the list. Null where all are. */
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
  readModel: Pick<ReadModel, "newest">,
  journal: JournalName,
  { filter, limit, after, shows }: FilteredQuery,
): Promise<FilteredPage> {
  const entries: JournalEntry[] = [];
  let last: JournalCursor | undefined = after;
  const size = shows === null ? limit + 1 : Math.max(limit + 1, STEP);
  for (let step = 0; step < MAX_STEPS; step++) {
    const found = await readModel.newest(journal, { ...filter, limit: size, after: last });
    for (const entry of found) {
      const isShown = shows === null || shows(entry);
      if (isShown && entries.length === limit) return { entries, next: last ?? null, searchedToMs: null };
      if (isShown) entries.push(entry);
      last = entry;
    }
    if (found.length < size) return { entries, next: null, searchedToMs: null };
  }
  return { entries, next: last ?? null, searchedToMs: last?.timeMs ?? null };
}
