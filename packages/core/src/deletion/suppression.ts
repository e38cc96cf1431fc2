/** Suppressions: users whose events a deletion request stops, and which events are theirs. */
import type { Delivery } from "../delivery/delivery.ts";
import type { Event } from "../event/event.ts";
import { deliveryKey, eventKey } from "../routing/partition-key.ts";

/**
 * How long whoever sends may go by what it knows of suppressions without an answer of the brokers, in ms: an attempt
 * begins only while the table of suppressions is known to have been whole within this time. Control answers a request
 * that suppresses this long after the brokers have it, so that from the answer on nobody sends who does not know of it.
 */
export const SUPPRESSION_LEASE_MS = 10_000;

/** One record of `posthaste.suppressions`; its fields are those of `schemas/suppression.avsc`. */
export interface Suppression {
  readonly sourceId: string;
  readonly userId: string;
  /** The deletion request that asked for it last. */
  readonly deletionId: string;
  readonly suppressedAtMs: number;
  /** When it ends by itself; null for never. */
  readonly endsAtMs: number | null;
}

/** The users that are suppressed, by `suppressionKey`. */
export interface SuppressedUsers {
  readonly size: number;
  has(key: string): boolean;
}

/** Key of a user's record in `posthaste.suppressions`, which is that of their events. */
export function suppressionKey(sourceId: string, userId: string): string {
  return eventKey(sourceId, { userId, anonymousId: null, messageId: "" });
}

/**
 * Whether an event is one of a suppressed user: of its user id, else of its anonymous id, which is who its deliveries
 * are kept in order by; of an alias also the id that it is aliased from, since its body names both. The notification of
 * a deletion itself is not.
 */
export function isEventSuppressed(suppressed: SuppressedUsers, event: Event): boolean {
  if (suppressed.size === 0 || event.type === "delete") return false;
  const { sourceId, type, previousId } = event;
  if (suppressed.has(eventKey(sourceId, event))) return true;
  return type === "alias" && previousId !== null && suppressed.has(suppressionKey(sourceId, previousId));
}

/** What tells whose a delivery is: its record's key, and for an alias its body. */
export interface DeliveryOfUser {
  readonly delivery: Pick<Delivery, "sourceId" | "destinationId" | "type">;
  /** The record's key, as `deliveryKey` makes it; null for a record without one, which is nobody's. */
  readonly key: string | null;
  /** The delivery's body as text; asked for only of an alias. */
  readonly bodyText: () => string;
}

/**
 * The keys of the users that a delivery, a retry of it or its dead letter is about, as `suppressionKey` makes them;
 * none of a notification.
 */
export function suppressionKeysOf({ delivery, key, bodyText }: DeliveryOfUser): readonly string[] {
  const { sourceId, destinationId, type } = delivery;
  if (type === "delete" || key === null) return NOBODY;
  const own = suppressionKey(sourceId, key.slice(deliveryKey(destinationId, NO_USER).length));
  if (type !== "alias") return [own];
  const previousId = previousIdOf(bodyText());
  return previousId === null ? [own] : [own, suppressionKey(sourceId, previousId)];
}

/** The same as `isEventSuppressed`, of what the event became. */
export function isDeliverySuppressed(suppressed: SuppressedUsers, of: DeliveryOfUser): boolean {
  return suppressed.size > 0 && suppressionKeysOf(of).some((key) => suppressed.has(key));
}

const NOBODY: readonly string[] = [];
const NO_USER = { userId: "", anonymousId: null, messageId: "" };

/**
 * The id that an alias is aliased from, out of its body; null where there is none, as in the body of a dead letter that
 * was emptied.
 */
function previousIdOf(body: string): string | null {
  if (body === "") return null;
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== "object" || parsed === null || !("Previous ID" in parsed)) return null;
  const { "Previous ID": previousId } = parsed;
  return typeof previousId === "string" ? previousId : null;
}
