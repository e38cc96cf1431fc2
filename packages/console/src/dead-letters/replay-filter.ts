/** Which dead letters are sent again: it stands in the address of the review, as the lists have it. */
import type { ReplayInput } from "../api/api-types.ts";
import { type Filter, type FilterField, searchOf } from "../listing/filter.ts";
import { DEAD_LETTER_FILTERS, type DeadLetterFilterKey } from "./dead-letter-filter.ts";

export type ReplayFilterKey = DeadLetterFilterKey | "again" | "places";

export const REPLAY_FILTERS: readonly FilterField<ReplayFilterKey>[] = [
  ...DEAD_LETTER_FILTERS,
  { key: "places", label: "Selected dead letters", isList: true },
  { key: "again", label: "Delivered or replayed since", choices: [["true", "too"]] },
];

/** The page where the dead letters of a filter are counted before they are sent. */
export function reviewOf(filter: Filter<ReplayFilterKey>): string {
  return `/replay${searchOf(filter)}`;
}

export function inputOf({ again, places, ...filter }: Filter<ReplayFilterKey>): ReplayInput {
  // Control reports values of the address that do not fit.
  return {
    ...(filter as ReplayInput),
    ...(again === undefined ? {} : { again: true }),
    ...(places === undefined ? {} : { places: places.split(",") }),
    dryRun: true,
  };
}
