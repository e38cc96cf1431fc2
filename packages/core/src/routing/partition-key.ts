/**
 * Record keys, and with them what stays in order: the events of one user from one source, and the deliveries of one
 * user to one destination.
 */

/** Whom an event is about. A call that names nobody (ingest refuses those) would be its own user. */
export interface EventSubject {
  readonly userId: string | null;
  readonly anonymousId: string | null;
  readonly messageId: string;
}

/** Key of a record in `posthaste.events`. */
export function eventKey(sourceId: string, subject: EventSubject): string {
  return `${sourceId}:${userOf(subject)}`;
}

/** Key of a record in `posthaste.deliveries`, the retry topics and the dead letters. */
export function deliveryKey(destinationId: string, subject: EventSubject): string {
  return `${destinationId}:${userOf(subject)}`;
}

/** The user that a delivery's key ends in; undefined for a key of something else. */
export function userKeyOf(destinationId: string, key: string): string | undefined {
  return key.startsWith(`${destinationId}:`) ? key.slice(destinationId.length + 1) : undefined;
}

/** Whom the event counts as one of: its user id, else its anonymous id, else its message id. */
export function userOf({ userId, anonymousId, messageId }: EventSubject): string {
  return userId ?? anonymousId ?? messageId;
}
