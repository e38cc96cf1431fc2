/** What admission needs of the next stage, the attempt, and what it hears of every attempt. */
import type { Permit } from "@posthaste/core/isolation/permit";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { CheckedDelivery } from "../check/checked-delivery.ts";

/** A delivery's permit to be sent; for each of its URLs the attempt tells admission its outcome and its end. */
export type DeliveryPermit = Permit<CheckedDelivery>;

/** The next stage. */
export interface AttemptPort {
  /** Starts the attempt of a permit that was given, and tells `feedback` what comes of it. */
  start(permit: DeliveryPermit, feedback: AttemptFeedback): void;
}

/** What admission hears of an attempt. An `index` counts the permit's URLs. */
export interface AttemptFeedback {
  /** A request has its outcome. `shutMs`: for how long its receiver asked not to be called at this URL; else null. */
  settled(permit: DeliveryPermit, index: number, outcome: RequestOutcome, shutMs: number | null): void;
  /** A request has ended. */
  ended(permit: DeliveryPermit, index: number): void;
  /**
   * Under `settle: any`, when each URL that the permit leaves out may be called: ms since the epoch, or null for a URL
   * whose receiver asked for nothing. Empty when the permit leaves none out.
   */
  leftOutTillMs(permit: DeliveryPermit): readonly (number | null)[];
}
