/**
 * A page of a projection's entries that have to be looked at one by one: the projection finds candidates, by its index
 * and by the texts that they hold, and `shows` picks among them. A page that has looked through enough entries ends
 * early and says up to which moment it searched.
 */

import type { ProjectionCursor, ProjectionEntry, ProjectionFilter } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { ProjectionName } from "@posthaste/read-model/store";

/** The most entries that are looked through for one page; the next page goes on behind them. */
const MAX_LOOKED = 20_000;
/** The entries that are asked for at a time, where those that would fill the page did not all fit. */
const STEP = 2000;

export interface FilteredQuery {
  /** The filters that the projection applies by itself. */
  readonly filter: ProjectionFilter;
  /** The texts that the detail of every entry holds that `shows` accepts. */
  readonly texts: readonly string[];
  readonly limit: number;
  readonly after?: ProjectionCursor | undefined;
  /** True for an entry that the page shows; called in the order of the list. Null where the page shows every entry. */
  readonly shows: ((entry: ProjectionEntry) => boolean) | null;
}

export interface FilteredPage {
  /** Newest first. */
  readonly entries: readonly ProjectionEntry[];
  /** Where the next page begins; null on the last. */
  readonly next: ProjectionCursor | null;
  /** The moment up to which the page searched, where it ended early; null for any other page. */
  readonly searchedToMs: number | null;
}

export async function filteredPage(
  readModel: Pick<ReadModel, "search">,
  projection: ProjectionName,
  { filter, texts, limit, after, shows }: FilteredQuery,
): Promise<FilteredPage> {
  const entries: ProjectionEntry[] = [];
  let last: ProjectionCursor | undefined = after;
  let [size, looked] = [limit + 1, 0];
  while (looked < MAX_LOOKED) {
    const asked = { ...filter, texts, limit: size, lookThrough: MAX_LOOKED, after: last };
    const { entries: found, end } = await readModel.search(projection, asked);
    for (const entry of found) {
      const isShown = shows?.(entry) ?? true;
      if (isShown && entries.length === limit) return { entries, next: last ?? null, searchedToMs: null };
      if (isShown) entries.push(entry);
      last = entry;
    }
    if (end === null) return { entries, next: null, searchedToMs: null };
    last = end;
    // Where the projection found fewer than asked for, it looked through as many as it may.
    looked += found.length < size ? MAX_LOOKED : found.length;
    size = Math.max(limit + 1, STEP);
  }
  return { entries, next: last ?? null, searchedToMs: last?.timeMs ?? null };
}
