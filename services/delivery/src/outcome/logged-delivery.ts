/** What the attempt log says of a delivery, whatever became of it. */
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import { isOriginKnown } from "@posthaste/core/delivery/replay";
import { userKeyOf } from "@posthaste/core/routing/partition-key";
import { shortName } from "@posthaste/core/routing/short-name";
import type { CheckedDelivery } from "../check/checked-delivery.ts";

/** `delayMsOf`: the delay of a retry topic; 0 for the deliveries topic. */
export function toLoggedDelivery(checked: CheckedDelivery, delayMsOf: (topic: string) => number): LoggedDelivery {
  const { task, delivery, progress } = checked;
  const { record } = task;
  const hasOrigin = isOriginKnown(delivery, progress.replay);
  const userKey = record.key === null ? undefined : userKeyOf(delivery.destinationId, record.key.toString());
  return {
    messageId: delivery.messageId,
    sourceId: delivery.sourceId,
    destinationId: delivery.destinationId,
    type: delivery.type,
    receivedAtMs: delivery.receivedAtMs,
    userKey: userKey === undefined ? null : shortName(userKey),
    event: delivery.event,
    originPartition: hasOrigin ? delivery.originPartition : null,
    originOffset: hasOrigin ? delivery.originOffset : null,
    configOffset: delivery.configOffset,
    recordDelayMs: delayMsOf(record.topic),
    recordPartition: record.partition,
    recordOffset: record.offset,
    recordTimestampMs: record.timestampMs,
    deferrals: progress.deferrals,
    replayId: progress.replay?.id ?? null,
  };
}
