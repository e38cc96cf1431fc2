/** What narrows the dead letters, here and at the terminal. */
import type { Filter, FilterField } from "../../listing/filter.ts";

export type LetterFilterKey =
  | "destinationId"
  | "reason"
  | "error"
  | "type"
  | "userId"
  | "sourceId"
  | "event"
  | "since"
  | "until";

const REASONS = [
  "window_expired",
  "rejected_by_receiver",
  "address_refused",
  "destination_disabled",
  "destination_removed",
  "suppressed",
  "other",
] as const;
const TYPES = ["track", "identify", "page", "screen", "group", "alias", "delete"] as const;

export const LETTER_FILTERS: readonly FilterField<LetterFilterKey>[] = [
  { key: "destinationId", label: "Destination id" },
  { key: "reason", label: "Reason", choices: REASONS.map((each) => [each, each.replaceAll("_", " ")] as const) },
  { key: "error", label: "Error or status" },
  { key: "type", label: "Type", choices: TYPES.map((each) => [each, each] as const) },
  { key: "event", label: "Event's name" },
  { key: "userId", label: "User id" },
  { key: "sourceId", label: "Source id" },
  { key: "since", label: "Since" },
  { key: "until", label: "Until" },
];

/** The line for the terminal that lists the same. */
export function commandOf(filter: Filter<LetterFilterKey>): string {
  const options = Object.entries(filter).map(([key, value]) => {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return ` --${name} ${/^[\w.:@-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;
  });
  return `posthaste dead-letters list${options.join("")}`;
}
