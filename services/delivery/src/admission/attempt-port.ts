/** The port of the attempt, the stage after admission, and the feedback of the attempt to admission. */
import type { Permit } from "@posthaste/core/isolation/permit";
import type { RequestEnd, RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { CheckedDelivery } from "../check/checked-delivery.ts";

/** A delivery's permit. The attempt tells admission the outcome and the end of the request to each of its URLs. */
export type DeliveryPermit = Permit<CheckedDelivery>;

/** The next stage. */
export interface AttemptPort {
  /** Starts the attempt of a permit that was given, and reports to `feedback`. */
  start(permit: DeliveryPermit, feedback: AttemptFeedback): void;
}

/** The attempt's feedback to admission. An `index` counts the permit's URLs. */
export interface AttemptFeedback {
  /**
   * A request has its outcome. `shutMs`: for how many ms the receiver asked not to be called at this URL; null for
   * none.
   */
  settled(permit: DeliveryPermit, index: number, outcome: RequestOutcome, shutMs: number | null): void;
  /** A request has ended. Its answer cost this process `answerMs` of processor time. */
  ended(permit: DeliveryPermit, index: number, end: RequestEnd, answerMs: number): void;
  /**
   * Under `settle: any`: when each URL that the permit leaves out may be called, in ms since the epoch, or null for a
   * URL without a `Retry-After`. Empty when the permit leaves none out.
   */
  skippedTillMs(permit: DeliveryPermit): readonly (number | null)[];
}
