/**
 * An event's record into the records of its deliveries; decided in memory, one decode for all destinations and one body
 * for all of the same payload.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { Payload } from "@posthaste/core/config/destination";
import { isEventSuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { toWebhookBody } from "@posthaste/core/routing/body";
import { eventNameOf, fieldsLeftOut } from "@posthaste/core/routing/delivery-fields";
import { deliveryKey } from "@posthaste/core/routing/partition-key";
import { type NotRouted, type RoutingTable, routeEvent } from "@posthaste/core/routing/routing";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { partitionOf } from "@posthaste/kafka/wire/murmur2";
import type { Dedupe } from "./dedupe.ts";
import type { EventPlace } from "./event-place.ts";
import type { RouterMetrics } from "./metrics.ts";
import type { UnroutedLog } from "./unrouted.ts";
import { type LeftOut, toUnrouted } from "./unrouted-event.ts";

/** A character of an id, of a name or of JSON, in UTF-8. */
const MAX_CHARACTER_BYTES = 3;
/** The rest of a delivery beside its ids and its body: numbers, lengths, the schema's id. */
const ENVELOPE_BYTES = 100;

/** What a delivery is made from, beside its event. */
export interface RouteContext {
  readonly routing: RoutingTable;
  /** The topic incarnation of origins: the incarnation of the events topic, and how deliveries are placed (D2). */
  readonly originIncarnation: number;
  readonly deliveriesTopic: string;
  /** Partitions that deliveries are placed on, the same for as long as the origins' topic incarnation is. */
  readonly deliveryPartitions: number;
  readonly deliveryCodec: Codec<Delivery>;
  /** The config offset that the routing table stands at. */
  readonly configOffset: () => number;
}

/**
 * The event's deliveries as records, in order of destination id (R2), or why it has none. A delivery is encoded when it
 * is sent: until then those of an event share a body.
 */
export function toDeliveries(
  event: Event,
  place: EventPlace,
  context: RouteContext,
): readonly OutgoingRecord[] | NotRouted {
  const destinations = routeEvent(event, context.routing);
  if (typeof destinations === "string") return destinations;
  const { messageId, sourceId, type, receivedAtMs } = event;
  const configOffset = context.configOffset();
  const bodies: Partial<Record<Payload, Buffer>> = {};
  const name = eventNameOf(event);
  const restJson = fieldsLeftOut(event);
  const textLength = messageId.length + sourceId.length + (name?.length ?? 0) + (restJson?.length ?? 0);
  return destinations.map(({ id: destinationId, payload }) => {
    const body = bodies[payload] ?? Buffer.from(toWebhookBody(event, payload), "utf8");
    bodies[payload] = body;
    const key = Buffer.from(deliveryKey(destinationId, event));
    return {
      topic: context.deliveriesTopic,
      partition: partitionOf(key, context.deliveryPartitions),
      key,
      value: {
        length: body.length + MAX_CHARACTER_BYTES * (textLength + destinationId.length) + ENVELOPE_BYTES,
        make: () =>
          context.deliveryCodec.encode({
            messageId,
            sourceId,
            destinationId,
            type,
            receivedAtMs,
            configOffset,
            originIncarnation: context.originIncarnation,
            originPartition: place.partition,
            originOffset: place.offset,
            body,
            event: name,
            restJson,
          }),
      },
    };
  });
}

export interface RecordRouterParts {
  readonly context: RouteContext;
  /**
   * Their events become no delivery. Delivery holds to that whatever is known here (V6 of its suppression-check.ts).
   */
  readonly suppressed: SuppressedUsers;
  readonly eventCodec: Codec<Event>;
  readonly producer: Producer;
  /** Null when it is switched off. */
  readonly dedupe: Dedupe | null;
  readonly unrouted: UnroutedLog;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  readonly metrics: RouterMetrics;
}

/** Takes records of the events topic, in the order of their offsets, and sends what they become in that order. */
export class RecordRouter {
  readonly #parts: RecordRouterParts;

  constructor(parts: RecordRouterParts) {
    this.#parts = parts;
  }

  /** Why it cannot be read, for a record that no schema reads: it is put aside, and stops nothing. */
  take({ value }: IncomingRecord): Event | PosthasteError {
    return decodeOrReason(this.#parts.eventCodec, value);
  }

  /** Sends the event's deliveries; the promise is their acknowledgement (R4). Finishes at once what becomes none. */
  run(task: Task<Event | PosthasteError>): Promise<void> | undefined {
    const { item: event, record } = task;
    const { producer, unreadable, metrics } = this.#parts;
    if (event instanceof PosthasteError) {
      metrics.events.inc({ outcome: "unreadable" });
      return unreadable.put(record, event);
    }
    const routed = this.#route(event, record);
    if ("cause" in routed) {
      this.#leave(event, record, routed);
      task.finish();
      return undefined;
    }
    metrics.events.inc({ outcome: "routed" });
    metrics.deliveries.inc(routed.length);
    return producer.send(routed);
  }

  #route(event: Event, record: IncomingRecord): readonly OutgoingRecord[] | LeftOut {
    const { context, suppressed, dedupe } = this.#parts;
    // Before its id is noted: when the suppression has ended, a call that is sent again is no duplicate of one that was
    // dropped.
    if (isEventSuppressed(suppressed, event)) return { cause: "suppressed" };
    const firstOffset = dedupe?.firstOffset(event, record) ?? null;
    if (firstOffset !== null) return { cause: "duplicate", firstOffset };
    const routed = toDeliveries(event, record, context);
    return typeof routed === "string" ? { cause: routed } : routed;
  }

  #leave(event: Event, place: EventPlace, left: LeftOut): void {
    const { metrics, unrouted, context } = this.#parts;
    metrics.events.inc({ outcome: left.cause });
    unrouted.add(event.sourceId, toUnrouted(event, place, { ...left, context }));
  }
}
