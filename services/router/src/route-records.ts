/**
 * Makes the records of an event's deliveries, in memory: each event is decoded once for all of its destinations, and
 * has one body for all destinations of the same payload.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { Payload } from "@posthaste/core/config/destination";
import { isEventSuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { toWebhookBody } from "@posthaste/core/routing/body";
import { eventNameOf, omittedFields } from "@posthaste/core/routing/delivery-fields";
import { deliveryKey } from "@posthaste/core/routing/partition-key";
import { type NotRouted, type RoutingTable, routeEvent } from "@posthaste/core/routing/routing";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { partitionOf } from "@posthaste/kafka/wire/murmur2";
import type { Traces } from "@posthaste/runtime/traces";
import type { Dedupe } from "./dedupe.ts";
import type { EventPlace } from "./event-place.ts";
import type { RouterMetrics } from "./metrics.ts";
import { sendTraced, traceUnrouted } from "./route-span.ts";
import type { UnroutedLog } from "./unrouted.ts";
import { toUnrouted, type WithoutDelivery } from "./unrouted-event.ts";

/** The most bytes of a UTF-16 unit of text in UTF-8. */
const MAX_CHARACTER_BYTES = 3;
/** The most bytes of a delivery beside its texts and its body: numbers, lengths, the id of the schema. */
const ENVELOPE_BYTES = 100;

/** The terms of a delivery besides its event. */
export interface RouteContext {
  readonly routing: RoutingTable;
  /** The topic generation in origins (`originTopicGenerationOf`, D2). */
  readonly originIncarnation: number;
  readonly deliveriesTopic: string;
  /** How many partitions deliveries are placed on; it does not change while `originIncarnation` stays. */
  readonly deliveryPartitions: number;
  readonly deliveryCodec: Codec<Delivery>;
  /** The offset in `posthaste.destination-config` up to which the routing table has read. */
  readonly configOffset: () => number;
}

/**
 * The records of an event's deliveries, in order of destination id (R2), or why it has none. A delivery is encoded when
 * it is sent; until then the deliveries of one event share their bodies.
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
  const restJson = omittedFields(event);
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
   * The users whose events become no delivery. Whatever the router knows of them, delivery keeps to it too (V6 of its
   * suppression-check.ts).
   */
  readonly suppressed: SuppressedUsers;
  readonly eventCodec: Codec<Event>;
  readonly producer: Producer;
  /** Null when the dedupe is switched off. */
  readonly dedupe: Dedupe | null;
  readonly unrouted: UnroutedLog;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  readonly metrics: RouterMetrics;
  /** Absent while traces are off. */
  readonly traces?: Traces | undefined;
}

/** Routes the records of the events topic in the order of their offsets, and sends their deliveries in that order. */
export class RecordRouter {
  readonly #parts: RecordRouterParts;

  constructor(parts: RecordRouterParts) {
    this.#parts = parts;
  }

  /**
   * Decodes a record. Returns the reason for a record that no schema reads: such a record is quarantined and stops
   * nothing.
   */
  take({ value }: IncomingRecord): Event | PosthasteError {
    return decodeOrReason(this.#parts.eventCodec, value);
  }

  /**
   * Sends the event's deliveries; the promise is their acknowledgement (R4). The task of an event without deliveries is
   * finished at once.
   */
  run(task: Task<Event | PosthasteError>): Promise<void> | undefined {
    const { item: event, record } = task;
    const { producer, unreadable, metrics, traces } = this.#parts;
    if (event instanceof PosthasteError) {
      metrics.events.inc({ outcome: "unreadable" });
      return unreadable.put(record, event);
    }
    const routed = this.#route(event, record);
    if ("cause" in routed) {
      this.#leave(event, record, routed);
      if (traces !== undefined) traceUnrouted(traces, event, { record, cause: routed.cause });
      task.finish();
      return undefined;
    }
    metrics.events.inc({ outcome: "routed" });
    metrics.deliveries.inc(routed.length);
    if (traces === undefined) return producer.send(routed);
    return sendTraced(traces, event, { record, routed, send: (records) => producer.send(records) });
  }

  #route(event: Event, record: IncomingRecord): readonly OutgoingRecord[] | WithoutDelivery {
    const { context, suppressed, dedupe } = this.#parts;
    // This comes before the id is noted, so that a call that is sent again after its user's suppression has ended is no
    // duplicate of one that was dropped.
    if (isEventSuppressed(suppressed, event)) return { cause: "suppressed" };
    const firstOffset = dedupe?.firstOffset(event, record) ?? null;
    if (firstOffset !== null) return { cause: "duplicate", firstOffset };
    const routed = toDeliveries(event, record, context);
    return typeof routed === "string" ? { cause: routed } : routed;
  }

  #leave(event: Event, place: EventPlace, left: WithoutDelivery): void {
    const { metrics, unrouted, context } = this.#parts;
    metrics.events.inc({ outcome: left.cause });
    unrouted.add(event.sourceId, toUnrouted(event, place, { ...left, context }));
  }
}
