/** The filters of the activity. */
import type { ChangeFilterKey } from "../../audit/change-list.tsx";
import type { FilterField } from "../../listing/filter.ts";

export const ACTIVITY_FILTERS: readonly FilterField<ChangeFilterKey>[] = [
  { key: "actor", label: "By (name or token id)" },
  { key: "target", label: "Of (id)" },
  { key: "operation", label: "Operation" },
  { key: "since", label: "Since", isMoment: true },
  { key: "until", label: "Until", isMoment: true },
];
