/** The filters of the destinations, and the order in the address. */

import type { SortDirection } from "../../listing/column.ts";
import type { FilterField } from "../../listing/filter.ts";
import { HEALTH_WORDS } from "../../status/health-words.ts";

export type DestinationsFilterKey = "state" | "name";

export const DESTINATIONS_FILTERS: readonly FilterField<DestinationsFilterKey>[] = [
  {
    ...{ key: "state", label: "State", chip: "choices" },
    choices: Object.entries(HEALTH_WORDS).map(([state, [words]]) => [state, words]),
  },
  { key: "name", label: "Name", chip: "own" },
];

/** By column, the direction in which it sorts first. */
export const SORTS = {
  ...{ name: "ascending", state: "descending", failing: "descending" },
  ...{ p99: "descending", waiting: "descending", dead: "descending" },
} as const satisfies Readonly<Record<string, SortDirection>>;

export type SortKey = keyof typeof SORTS;

/** A minus before a key turns its direction round. */
export const DESTINATIONS_SORT: readonly FilterField<"sort">[] = [
  {
    ...{ key: "sort", label: "Sort" },
    choices: Object.keys(SORTS).flatMap((key) => [
      [key, key],
      [`-${key}`, key],
    ]),
  },
];
