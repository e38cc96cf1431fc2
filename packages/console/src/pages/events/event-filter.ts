/** The filters of the events. */
import type { Operations } from "../../api/api-types.ts";
import type { Filter, FilterField } from "../../listing/filter.ts";
import { quoted } from "../../terminal/quoted.ts";

type Query = Operations["GET /v1/events"]["query"];
export type EventFilterKey = keyof Omit<Query, "limit" | "cursor">;

export const EVENT_FILTERS: readonly FilterField<EventFilterKey>[] = [
  { key: "userId", label: "User ID", chip: "own" },
  { key: "event", label: "Event", chip: "own" },
  { key: "sourceId", label: "Source", chip: "own", named: "source" },
  { key: "since", label: "Since", chip: "own", chipWords: "Time", isMoment: true },
  { key: "until", label: "Until", isMoment: true },
];

/** The line for the terminal that finds the same; it asks for a user or a name. */
export function findCommand({ userId, event, sourceId, since }: Filter<EventFilterKey>): string | null {
  if (userId === undefined && event === undefined) return null;
  const options = { "user-id": userId, event, "source-id": sourceId, since };
  const words = Object.entries(options).map(([name, value]) =>
    value === undefined ? "" : ` --${name} ${quoted(value)}`,
  );
  return `posthaste events find${words.join("")}`;
}
