/** The filters of the activity. */
import type { ChangeFilterKey } from "../../audit/change-list.tsx";
import type { FilterField } from "../../listing/filter.ts";

export const ACTIVITY_FILTERS: readonly FilterField<ChangeFilterKey>[] = [
  { key: "actor", label: "Person", chip: "own" },
  { key: "target", label: "Object ID", chip: "own" },
  { key: "operation", label: "Operation", chip: "own" },
  { key: "since", label: "Since", chip: "own", chipWords: "Time", isMoment: true },
  { key: "until", label: "Until", isMoment: true },
];
