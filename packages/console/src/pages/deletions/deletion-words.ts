/** States of deletion requests and of their notifications in words. */
import type { DeletionNotificationPage, DeletionPage, DeletionStatus } from "../../api/api-types.ts";
import { countOf } from "../../moment/numbers.ts";
import type { Tone } from "../../verdict/cause.ts";

export type Request = DeletionPage["data"][number];
export type Notification = DeletionNotificationPage["data"][number];

export const REQUEST_STATES: Readonly<Record<Request["state"], readonly [words: string, tone: Tone]>> = {
  requested: ["on record", "waiting"],
  sent: ["sent", "good"],
};

export const NOTIFICATION_STATES: Readonly<Record<Notification["state"], readonly [words: string, tone: Tone]>> = {
  sent: ["sent", "waiting"],
  retrying: ["retrying", "waiting"],
  delivered: ["delivered", "good"],
  dead: ["dead", "bad"],
};

export const STATE_NAMES = [
  "sent",
  "retrying",
  "delivered",
  "dead",
] as const satisfies readonly Notification["state"][];

type Counted = Pick<DeletionStatus, "state" | "notifications" | "states">;

/** The state of a request by the outcomes of its notifications: sent ones are no end yet. */
export function outcomeOf({ state, notifications, states }: Counted): readonly [words: string, tone: Tone] {
  const left = notifications - states.delivered - states.dead;
  if (state === "requested") return REQUEST_STATES.requested;
  if (notifications === 0) return ["nobody to tell", "off"];
  if (left > 0) return [`sent, ${countOf(left)} of ${countOf(notifications)} not delivered yet`, "waiting"];
  if (states.dead > 0) return [`${countOf(states.dead)} of ${countOf(notifications)} failed`, "bad"];
  return ["all delivered", "good"];
}

/** `3 sent, 2 delivered`: those that are any. */
export function statesText(states: DeletionStatus["states"]): string {
  const some = STATE_NAMES.filter((state) => states[state] > 0);
  return some.map((state) => `${countOf(states[state])} ${NOTIFICATION_STATES[state][0]}`).join(", ");
}
