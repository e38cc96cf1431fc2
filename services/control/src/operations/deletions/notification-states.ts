/** The states of a deletion request's notifications, by the delivery log and the dead letters. */
import type { Notification } from "@posthaste/core/deletion/deletion";
import type { MessageOutcome } from "@posthaste/read-model/projection";
import type { ReadModel } from "@posthaste/read-model/read-model";

export const NOTIFICATION_STATES = [
  /** The brokers have the notification, or will when the request is carried out; no attempt is known. */
  "sent",
  /** An attempt failed; another follows. */
  "retrying",
  "delivered",
  /** The notification is not tried again, unless its dead letter is replayed. */
  "dead",
] as const;
export type NotificationStateName = (typeof NOTIFICATION_STATES)[number];

export interface NotificationState extends Notification {
  readonly state: NotificationStateName;
  /** How many attempts are known. */
  readonly attempts: number;
  /** When the first and the newest attempt started, ms since the epoch; null without one. */
  readonly firstAttemptMs: number | null;
  readonly lastAttemptMs: number | null;
  readonly deliveredMs: number | null;
  readonly deadMs: number | null;
}

/** How many message ids one query has. */
const STEP = 500;

/**
 * The states of these notifications. A dead letter decides over attempts that started before it; under `settle: each`
 * (`settlesEach`) over all attempts, since those after it are at other URLs.
 */
export async function statesOf(
  readModel: ReadModel,
  notifications: readonly Notification[],
  settlesEach: (destinationId: string) => boolean,
): Promise<readonly NotificationState[]> {
  const [attempts, deadLetters] = await Promise.all([
    outcomesOf(readModel, "attempts", notifications),
    outcomesOf(readModel, "dead_letters", notifications),
  ]);
  return notifications.map((notification) => {
    const tried = attempts.get(placeOf(notification)) ?? [];
    const dead = deadLetters.get(placeOf(notification)) ?? [];
    const delivered = tried.filter(({ kind }) => kind === "delivered");
    const deadMs = newest(dead);
    const deliveredMs = newest(delivered);
    return {
      ...notification,
      state: stateOf({ tried: tried.length > 0, deliveredMs, deadMs }, settlesEach(notification.destinationId)),
      attempts: tried.reduce((sum, { entries }) => sum + entries, 0),
      firstAttemptMs: tried.length === 0 ? null : Math.min(...tried.map(({ firstMs }) => firstMs)),
      lastAttemptMs: newest(tried),
      deliveredMs,
      deadMs,
    };
  });
}

interface Known {
  readonly tried: boolean;
  readonly deliveredMs: number | null;
  readonly deadMs: number | null;
}

function stateOf({ tried, deliveredMs, deadMs }: Known, settlesEach: boolean): NotificationStateName {
  if (deadMs !== null && (deliveredMs === null || settlesEach || deadMs >= deliveredMs)) return "dead";
  if (deliveredMs !== null) return "delivered";
  return tried ? "retrying" : "sent";
}

async function outcomesOf(
  readModel: ReadModel,
  projection: "attempts" | "dead_letters",
  notifications: readonly Notification[],
): Promise<ReadonlyMap<string, readonly MessageOutcome[]>> {
  const messageIds = [...new Set(notifications.map(({ messageId }) => messageId))];
  const found = new Map<string, MessageOutcome[]>();
  for (let from = 0; from < messageIds.length; from += STEP) {
    for (const outcome of await readModel.outcomes(projection, messageIds.slice(from, from + STEP))) {
      const place = placeOf(outcome);
      const others = found.get(place);
      if (others === undefined) found.set(place, [outcome]);
      else others.push(outcome);
    }
  }
  return found;
}

function placeOf({ messageId, destinationId }: Pick<Notification, "messageId" | "destinationId">): string {
  return `${messageId} ${destinationId}`;
}

function newest(outcomes: readonly MessageOutcome[]): number | null {
  return outcomes.length === 0 ? null : Math.max(...outcomes.map(({ newestMs }) => newestMs));
}
