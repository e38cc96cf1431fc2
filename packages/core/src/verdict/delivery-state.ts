/** The state of a delivery, in one word. */
import { OTHER } from "../event/event.ts";
import type { DeliveryFacts } from "./delivery-facts.ts";
import { judgeDelivery } from "./delivery-verdict.ts";
import type { DeliveryVerdict } from "./verdict.ts";

export const DELIVERY_STATES = [
  /** A URL took the delivery, and none is owed. */
  "delivered",
  /** An attempt failed, and the next one is planned. */
  "waiting_retry",
  /** The delivery waits in a retry topic without a request. */
  "deferred",
  /** The delivery is not tried any more. */
  "dead_letter",
  /** A deletion request stopped it. */
  "suppressed",
  /** The facts do not say. */
  OTHER,
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface JudgedDelivery {
  readonly state: DeliveryState;
  /** Null where the facts do not say. */
  readonly verdict: DeliveryVerdict | null;
}

/** `nowMs`: ms since the epoch; the state itself does not depend on it. */
export function stateOf(facts: DeliveryFacts, nowMs: number): JudgedDelivery {
  const verdict = judgeDelivery(facts, nowMs);
  if (verdict === null) return { state: OTHER, verdict };
  return { state: verdict.cause === "delivered_elsewhere" ? "delivered" : verdict.cause, verdict };
}
