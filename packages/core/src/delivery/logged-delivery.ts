/** The facts of a delivery that the attempt log and a verdict share. */
import { userKeyOf } from "../routing/partition-key.ts";
import { shortName } from "../routing/short-name.ts";
import type { LoggedDelivery } from "./attempt-record.ts";
import type { Delivery, DeliveryProgress } from "./delivery.ts";
import { isOriginKnown } from "./replay.ts";

/** Where a delivery's record stands. */
export interface DeliveryRecordPlace {
  /** The record's key as text; null where it has none. */
  readonly key: string | null;
  /** The delay of its retry topic; 0 for the deliveries topic. */
  readonly delayMs: number;
  readonly partition: number;
  readonly offset: number;
  readonly timestampMs: number;
}

export function loggedDelivery(
  delivery: Delivery,
  progress: Pick<DeliveryProgress, "deferrals" | "replay">,
  { key, delayMs, partition, offset, timestampMs }: DeliveryRecordPlace,
): LoggedDelivery {
  const hasOrigin = isOriginKnown(delivery, progress.replay);
  const userKey = key === null ? undefined : userKeyOf(delivery.destinationId, key);
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
    recordDelayMs: delayMs,
    recordPartition: partition,
    recordOffset: offset,
    recordTimestampMs: timestampMs,
    deferrals: progress.deferrals,
    replayId: progress.replay?.id ?? null,
  };
}
