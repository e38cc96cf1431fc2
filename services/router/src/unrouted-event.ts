/** The entry of an unrouted event: the cause, and the fields that a reader needs to explain it. */
import { WEBHOOKS } from "@posthaste/core/config/destination";
import type { Event } from "@posthaste/core/event/event";
import { eventNameOf } from "@posthaste/core/routing/delivery-fields";
import { userOf } from "@posthaste/core/routing/partition-key";
import { integrationOf, type RoutingTable, type UnroutedCause } from "@posthaste/core/routing/routing";
import { shortName } from "@posthaste/core/routing/short-name";
import type { UnroutedEvent } from "@posthaste/core/routing/unrouted-event";
import type { EventPlace } from "./event-place.ts";
import { MAX_DESTINATION_IDS } from "./unrouted.ts";

/** Why an event became no delivery. */
export interface WithoutDelivery {
  readonly cause: UnroutedCause;
  /** For a duplicate: the offset of the first record. */
  readonly firstOffset?: number;
}

export interface UnroutedTerms extends WithoutDelivery {
  readonly context: { readonly routing: RoutingTable; readonly configOffset: () => number };
}

export function toUnrouted(event: Event, place: EventPlace, terms: UnroutedTerms): UnroutedEvent {
  const { cause, firstOffset = null, context } = terms;
  // The entry of a suppressed user's event keeps only the fields that name the event.
  const isNamed = cause !== "suppressed";
  return {
    messageId: event.messageId,
    type: event.type,
    cause,
    originPartition: place.partition,
    originOffset: place.offset,
    userKey: isNamed ? shortName(userOf(event)) : null,
    event: isNamed ? eventNameOf(event) : null,
    receivedAtMs: event.receivedAtMs,
    configOffset: context.configOffset(),
    destinationIds: destinationIdsOf(cause, event.sourceId, context.routing).slice(0, MAX_DESTINATION_IDS),
    firstOffset,
    integration: cause === "integrations" ? integrationOf(event.integrations, WEBHOOKS) : null,
  };
}

function destinationIdsOf(cause: UnroutedCause, sourceId: string, routing: RoutingTable): readonly string[] {
  switch (cause) {
    case "destination_off":
      return routing.switchedOff(sourceId);
    case "integrations":
      return routing
        .destinationsOf(sourceId)
        .slice(0, MAX_DESTINATION_IDS)
        .map(({ id }) => id);
    case "no_destination":
    case "duplicate":
    case "suppressed":
      return [];
  }
}
