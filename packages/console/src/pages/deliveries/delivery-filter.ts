/** What narrows the deliveries. */
import type { Operations } from "../../api/api-types.ts";
import type { FilterField } from "../../listing/filter.ts";

type Query = Operations["GET /v1/deliveries/latest"]["query"];
export type DeliveryFilterKey = keyof Omit<Query, "limit" | "cursor" | "attempt" | "outcome" | "replayId">;

export const STATES = [
  ["delivered", "delivered"],
  ["waiting_retry", "waiting for a retry"],
  ["deferred", "deferred"],
  ["dead_letter", "given up"],
  ["suppressed", "suppressed"],
] as const;

export const EVENT_TYPES = ["track", "identify", "page", "screen", "group", "alias", "delete"] as const;

export const DELIVERY_FILTERS: readonly FilterField<DeliveryFilterKey>[] = [
  { key: "state", label: "State", choices: STATES },
  { key: "destinationId", label: "Destination id" },
  { key: "sourceId", label: "Source id" },
  { key: "type", label: "Type", choices: EVENT_TYPES.map((type) => [type, type] as const) },
  { key: "event", label: "Event's name" },
  { key: "userId", label: "User id" },
  { key: "messageId", label: "Message id" },
  { key: "error", label: "Error or status" },
  {
    key: "statusClass",
    label: "Status class",
    choices: ["1xx", "2xx", "3xx", "4xx", "5xx"].map((each) => [each, each] as const),
  },
  { key: "since", label: "Since" },
  { key: "until", label: "Until" },
];
