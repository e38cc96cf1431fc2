/** Suppressions: the users whose events a deletion request stops, and which events and deliveries are theirs. */
import type { Delivery } from "../delivery/delivery.ts";
import type { Event } from "../event/event.ts";
import { deliveryKey, eventKey } from "../routing/partition-key.ts";

/**
 * How long a sender may rely on its table of suppressions without an answer of the brokers, in ms: an attempt begins
 * only while the table is known to have been whole within this time. Control answers a request that suppresses this
 * long after the brokers have it, so that after the answer nobody sends who does not know of it.
 */
export const SUPPRESSION_LEASE_MS = 10_000;

/** One record of `posthaste.suppressions`; `schemas/suppression.avsc` defines its fields. */
export interface Suppression {
  readonly sourceId: string;
  readonly userId: string;
  /** The deletion request that asked for it last. */
  readonly deletionId: string;
  readonly suppressedAtMs: number;
  /** When it ends by itself; null for never. */
  readonly endsAtMs: number | null;
}

/** The suppressed users, by `suppressionKey`. */
export interface SuppressedUsers {
  readonly size: number;
  has(key: string): boolean;
}

/** The key of a user's record in `posthaste.suppressions`; it equals the key of the user's events. */
export function suppressionKey(sourceId: string, userId: string): string {
  return eventKey(sourceId, { userId, anonymousId: null, messageId: "" });
}

/**
 * Whether an event is a suppressed user's: by its user id, else by its anonymous id, as its key goes. An alias is also
 * the user's whose id it replaces, since its body names both. The notification of a deletion is nobody's.
 */
export function isEventSuppressed(suppressed: SuppressedUsers, event: Event): boolean {
  if (suppressed.size === 0 || event.type === "delete") return false;
  const { sourceId, type, previousId } = event;
  if (suppressed.has(eventKey(sourceId, event))) return true;
  return type === "alias" && previousId !== null && suppressed.has(suppressionKey(sourceId, previousId));
}

/** The fields that tell which users a delivery is about: its record's key, and the body of an alias. */
export interface DeliveryOfUser {
  readonly delivery: Pick<Delivery, "sourceId" | "destinationId" | "type">;
  /** The record's key, as `deliveryKey` makes it; null for a record without a key, which is about nobody. */
  readonly key: string | null;
  /** Returns the delivery's body as text; called for an alias alone. */
  readonly bodyText: () => string;
}

/**
 * The keys (`suppressionKey`) of the users that a delivery, its retry or its dead letter is about; none for a
 * notification.
 */
export function suppressionKeysOf({ delivery, key, bodyText }: DeliveryOfUser): readonly string[] {
  const { sourceId, destinationId, type } = delivery;
  if (type === "delete" || key === null) return NOBODY;
  const own = suppressionKey(sourceId, key.slice(deliveryKey(destinationId, NO_USER).length));
  if (type !== "alias") return [own];
  const previousId = previousIdOf(bodyText());
  return previousId === null ? [own] : [own, suppressionKey(sourceId, previousId)];
}

/** As `isEventSuppressed`, for a delivery of the event. */
export function isDeliverySuppressed(suppressed: SuppressedUsers, of: DeliveryOfUser): boolean {
  return suppressed.size > 0 && suppressionKeysOf(of).some((key) => suppressed.has(key));
}

const NOBODY: readonly string[] = [];
const NO_USER = { userId: "", anonymousId: null, messageId: "" };

/** The id that an alias replaces, from its body; null where there is none, as in the emptied body of a dead letter. */
function previousIdOf(body: string): string | null {
  if (body === "") return null;
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== "object" || parsed === null || !("Previous ID" in parsed)) return null;
  const { "Previous ID": previousId } = parsed;
  return typeof previousId === "string" ? previousId : null;
}
