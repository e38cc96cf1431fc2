/** The filters of the destinations. */
import type { FilterField } from "../../listing/filter.ts";
import { HEALTH_WORDS } from "../../status/health-words.ts";

export type DestinationsFilterKey = "state" | "name";

export const DESTINATIONS_FILTERS: readonly FilterField<DestinationsFilterKey>[] = [
  { key: "state", label: "State", choices: Object.entries(HEALTH_WORDS).map(([state, [words]]) => [state, words]) },
  { key: "name", label: "Name" },
];
