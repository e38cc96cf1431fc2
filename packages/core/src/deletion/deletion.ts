/** Deletion requests: the users of each, and the notifications that it becomes. */

export const DELETION_STATES = [
  /** The request is on record: it will be carried out, by the next process if this one ends. */
  "requested",
  /** The brokers have every suppression and every notification. */
  "sent",
] as const;
export type DeletionState = (typeof DELETION_STATES)[number];

/** An affected source, and its destinations that were enabled when the request was made. */
export interface DeletionReceivers {
  readonly sourceId: string;
  readonly destinationIds: readonly string[];
}

/** One record of `posthaste.deletions`; `schemas/deletion.avsc` defines its fields. */
export interface Deletion {
  readonly id: string;
  readonly state: DeletionState;
  /** When the request came; also the timestamp of its notifications, whenever they are sent. */
  readonly createdAtMs: number;
  readonly sentAtMs: number | null;
  readonly suppress: boolean;
  /** When the request's suppressions end by themselves; null for never. */
  readonly suppressionEndsAtMs: number | null;
  /** A digest of the request's content: the same id with another content is another request. */
  readonly content: string;
  /** The users, each once. */
  readonly userIds: readonly string[];
  /** Every affected source, also one without a destination to notify. */
  readonly sourceIds: readonly string[];
  /** The affected sources that had enabled destinations, with these. */
  readonly receivers: readonly DeletionReceivers[];
}

/** A notification: it tells one destination of one user. */
export interface Notification {
  readonly messageId: string;
  readonly userId: string;
  readonly sourceId: string;
  readonly destinationId: string;
}

/**
 * The message id of the event that tells a source's destinations of a user. It is the same for every sender and every
 * repeat, so that the router and receivers recognise a repeat. `index` is the user's place in the request.
 */
export function notificationId(deletionId: string, sourceId: string, index: number): string {
  return index === 0 ? `${deletionId}:${sourceId}` : `${deletionId}:${sourceId}:${index}`;
}

/** How many notifications a request for `users` users becomes. */
export function countNotifications(users: number, receivers: readonly DeletionReceivers[]): number {
  return users * receivers.reduce((sum, { destinationIds }) => sum + destinationIds.length, 0);
}

/**
 * The notifications from number `from` up to, not including, `to`: user by user, and for each user source by source.
 */
export function notificationsOf(
  { id, userIds, receivers }: Pick<Deletion, "id" | "userIds" | "receivers">,
  from: number,
  to: number,
): readonly Notification[] {
  const places = receivers.flatMap(({ sourceId, destinationIds }) =>
    destinationIds.map((destinationId) => ({ sourceId, destinationId })),
  );
  const end = Math.min(to, userIds.length * places.length);
  const notifications: Notification[] = [];
  for (let number = from; number < end; number++) {
    const index = Math.floor(number / places.length);
    const place = places[number % places.length];
    const userId = userIds[index];
    if (place === undefined || userId === undefined) break;
    notifications.push({ ...place, userId, messageId: notificationId(id, place.sourceId, index) });
  }
  return notifications;
}
