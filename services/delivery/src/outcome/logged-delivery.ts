/** The part of an attempt-log entry that describes the delivery. */
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import { loggedDelivery } from "@posthaste/core/delivery/logged-delivery";
import type { CheckedDelivery } from "../check/checked-delivery.ts";

/** `delayMsOf`: the delay of a retry topic; 0 for the deliveries topic. */
export function toLoggedDelivery(checked: CheckedDelivery, delayMsOf: (topic: string) => number): LoggedDelivery {
  const { topic, partition, offset, timestampMs, key } = checked.task.record;
  const place = {
    key: key === null ? null : key.toString(),
    delayMs: delayMsOf(topic),
    partition,
    offset,
    timestampMs,
  };
  return loggedDelivery(checked.delivery, checked.progress, place);
}
