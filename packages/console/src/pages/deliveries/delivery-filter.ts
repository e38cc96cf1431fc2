/** The filters of the deliveries. */
import type { Operations } from "../../api/api-types.ts";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { EVENT_TYPES } from "../../listing/event-types.ts";
import type { Filter, FilterField } from "../../listing/filter.ts";

type Query = Operations["GET /v1/deliveries/latest"]["query"];
export type DeliveryFilterKey = keyof Omit<Query, "limit" | "cursor" | "attempt" | "outcome">;

export const STATES = [
  ["delivered", "delivered"],
  ["waiting_retry", "retrying"],
  ["deferred", "waiting"],
  ["dead_letter", "failed"],
  ["suppressed", "suppressed"],
] as const;

export const DELIVERY_FILTERS: readonly FilterField<DeliveryFilterKey>[] = [
  { key: "state", label: "State", chip: "choices", choices: STATES },
  { key: "destinationId", label: "Destination", chip: "own", named: "destination" },
  { key: "sourceId", label: "Source", chip: "own", named: "source" },
  { key: "type", label: "Type", choices: EVENT_TYPES.map((type) => [type, type] as const) },
  { key: "event", label: "Event", chip: "own" },
  { key: "userId", label: "User ID" },
  { key: "messageId", label: "Message ID" },
  { key: "error", label: "Error or status" },
  {
    key: "statusClass",
    label: "Status class",
    choices: ["1xx", "2xx", "3xx", "4xx", "5xx"].map((each) => [each, each] as const),
  },
  { key: "replayId", label: "Replay" },
  { key: "since", label: "Since", chip: "own", chipWords: "Time", isMoment: true },
  { key: "until", label: "Until", isMoment: true },
];

const NOT_OF_DEAD_LETTERS = ["state", "statusClass", "replayId", "messageId"] as const;

/** Where all that fits is counted to be sent again; or why it cannot be. */
export function sendAllOf(filter: Filter<DeliveryFilterKey>): {
  readonly href: string;
  readonly unavailable: string | null;
} {
  const { state, statusClass: _, replayId: __, messageId: ___, ...deadLetters } = filter;
  const other = NOT_OF_DEAD_LETTERS.find((key) => key !== "state" && filter[key] !== undefined);
  const unavailable =
    state !== "dead_letter"
      ? "choose failed deliveries first: filter by State, failed"
      : other === undefined
        ? null
        : `failed deliveries cannot be sent again by ${other}: remove that filter`;
  return { href: reviewOf(deadLetters), unavailable };
}
