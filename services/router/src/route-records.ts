/** An event's record into the records of its deliveries; decided in memory, one decode and one body for all destinations. */
import type { Codec } from "@posthaste/contracts/codec";
import { toWebhookBody } from "@posthaste/core/body";
import type { Delivery } from "@posthaste/core/delivery";
import type { Event } from "@posthaste/core/event";
import { deliveryKey } from "@posthaste/core/partition-key";
import { type RoutingTable, routeEvent, type UnroutedCause } from "@posthaste/core/routing";
import type { OutgoingRecord } from "@posthaste/kafka/producer";

/** Where an event stands. */
export interface EventPlace {
  readonly partition: number;
  readonly offset: number;
}

export interface RouteContext {
  readonly table: RoutingTable;
  /** The incarnation of the events topic (D2). */
  readonly logId: number;
  readonly deliveriesTopic: string;
  readonly codec: Codec<Delivery>;
  /** The config offset that the routing table stands at. */
  readonly configOffset: () => number;
}

/** The event's deliveries as records, in order of destination id (R2), or why it has none. */
export function routeRecord(
  event: Event,
  place: EventPlace,
  context: RouteContext,
): readonly OutgoingRecord[] | Exclude<UnroutedCause, "duplicate"> {
  const destinations = routeEvent(event, context.table);
  if (typeof destinations === "string") return destinations;
  const { messageId, sourceId, type, receivedAtMs } = event;
  const configOffset = context.configOffset();
  const body = Buffer.from(toWebhookBody(event), "utf8");
  return destinations.map(({ id: destinationId }) => ({
    topic: context.deliveriesTopic,
    key: deliveryKey(destinationId, event),
    value: context.codec.encode({
      messageId,
      sourceId,
      destinationId,
      type,
      receivedAtMs,
      configOffset,
      originLogId: context.logId,
      originPartition: place.partition,
      originOffset: place.offset,
      body,
    }),
  }));
}
