/** Events that became no delivery, as `posthaste.unrouted` has them. */
import type { EventType, Other } from "../event/event.ts";
import type { UnroutedCause } from "./routing.ts";

/** One entry of `schemas/unrouted-events.avsc`. */
export interface UnroutedEvent {
  readonly messageId: string;
  readonly type: EventType | Other;
  readonly cause: UnroutedCause | Other;
  readonly originPartition: number;
  readonly originOffset: number;
  /** The user id, else the anonymous id, else the message id; shortened. Null for a suppressed user's event. */
  readonly userKey: string | null;
  /** track: the event's name; page, screen: the name; shortened. Null for a suppressed user's event. */
  readonly event: string | null;
  /** Null in an entry from before this field. */
  readonly receivedAtMs: number | null;
  /** The offset in `posthaste.destination-config` up to which the router had read. */
  readonly configOffset: number | null;
  /**
   * For `destination_off` and `integrations`: the first of the destinations that would have taken the event; else
   * empty.
   */
  readonly destinationIds: readonly string[];
  /** For a duplicate: the offset of the first record, in the same partition; else null. */
  readonly firstOffset: number | null;
  /** For `integrations`: the entry of the event's map that decided; else null. */
  readonly integration: string | null;
}

/** The record of `schemas/unrouted-events.avsc`. */
export interface UnroutedEvents {
  readonly sourceId: string;
  readonly unroutedAtMs: number;
  readonly events: readonly UnroutedEvent[];
}
