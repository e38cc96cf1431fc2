/** The filters of dead letters, here and at the terminal. */
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { EVENT_TYPES } from "../listing/event-types.ts";
import type { Filter, FilterField } from "../listing/filter.ts";
import { quoted } from "../terminal/quoted.ts";

export type DeadLetterFilterKey =
  | "destinationId"
  | "reason"
  | "error"
  | "type"
  | "userId"
  | "sourceId"
  | "event"
  | "since"
  | "until";

/** The filters of their list, beside the filters of actions on them. */
export type ListedFilterKey = DeadLetterFilterKey | "open";

const REASONS = [...DEAD_LETTER_REASONS, "other"] as const;

export const DEAD_LETTER_FILTERS: readonly FilterField<DeadLetterFilterKey>[] = [
  { key: "destinationId", label: "Destination", chip: "own", named: "destination" },
  {
    key: "reason",
    label: "Reason",
    chip: "own",
    choices: REASONS.map((each) => [each, each.replaceAll("_", " ")] as const),
  },
  { key: "error", label: "Error or status" },
  { key: "type", label: "Type", choices: EVENT_TYPES.map((each) => [each, each] as const) },
  { key: "event", label: "Event", chip: "own" },
  { key: "userId", label: "User ID" },
  { key: "sourceId", label: "Source", chip: "own", named: "source" },
  { key: "since", label: "Since", chip: "own", chipWords: "Time", isMoment: true },
  { key: "until", label: "Until", isMoment: true },
];

export const LISTED_FILTERS: readonly FilterField<ListedFilterKey>[] = [
  { key: "open", label: "State", chip: "choices", choices: [["true", "open"]] },
  ...DEAD_LETTER_FILTERS,
];

/** The line for the terminal that lists the same, or does something else with it. */
export function commandOf(filter: Filter<ListedFilterKey>, command = "list", option = ""): string {
  const options = Object.entries(filter).map(([key, value]) => {
    if (key === "open") return " --open";
    const name = key.replace(/[A-Z]/g, (deadLetter) => `-${deadLetter.toLowerCase()}`);
    return ` --${name} ${quoted(value)}`;
  });
  return `posthaste dead-letters ${command}${options.join("")}${option === "" ? "" : ` ${option}`}`;
}
