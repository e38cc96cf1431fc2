/**
 * The keys of records. Records of one key stay in order: the events of one user from one source, and the deliveries of
 * one user to one destination.
 */

/** The user or visitor of an event. An event that names nobody, which ingest refuses, would be a user of its own. */
export interface EventSubject {
  readonly userId: string | null;
  readonly anonymousId: string | null;
  readonly messageId: string;
}

/** The key of a record in `posthaste.events`. */
export function eventKey(sourceId: string, subject: EventSubject): string {
  return `${sourceId}:${userOf(subject)}`;
}

/** The key of a record in `posthaste.deliveries`, the retry topics and the dead letters. */
export function deliveryKey(destinationId: string, subject: EventSubject): string {
  return `${destinationId}:${userOf(subject)}`;
}

/** The user key in a delivery's key; undefined for any other key. */
export function userKeyOf(destinationId: string, key: string): string | undefined {
  return key.startsWith(`${destinationId}:`) ? key.slice(destinationId.length + 1) : undefined;
}

/** The user key of an event: its user id, else its anonymous id, else its message id. */
export function userOf({ userId, anonymousId, messageId }: EventSubject): string {
  return userId ?? anonymousId ?? messageId;
}
