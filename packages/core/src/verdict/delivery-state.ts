/** How a delivery stands, in one word. */
import { OTHER } from "../event/event.ts";
import type { DeliveryFacts } from "./delivery-facts.ts";
import { judgeDelivery } from "./delivery-verdict.ts";
import type { DeliveryVerdict } from "./verdict.ts";

export const DELIVERY_STATES = [
  /** A URL that it was for took it, and none is owed. */
  "delivered",
  /** An attempt failed, and the next one is planned. */
  "waiting_retry",
  /** It waits in a retry topic and no request was made. */
  "deferred",
  /** It is tried no more. */
  "dead_letter",
  /** A deletion request stopped it. */
  "suppressed",
  /** What is known does not say. */
  OTHER,
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface StandingDelivery {
  readonly state: DeliveryState;
  /** Null where what is known does not say. */
  readonly verdict: DeliveryVerdict | null;
}

/** `nowMs`: ms since the epoch; the state itself does not depend on it. */
export function standingOf(facts: DeliveryFacts, nowMs: number): StandingDelivery {
  const verdict = judgeDelivery(facts, nowMs);
  if (verdict === null) return { state: OTHER, verdict };
  return { state: verdict.cause === "delivered_elsewhere" ? "delivered" : verdict.cause, verdict };
}
