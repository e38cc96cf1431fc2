/** What the attempt needs of the next stage, the outcome. */
import type { AttemptReport } from "@posthaste/webhook/report";
import type { DeliveryPermit } from "../admission/attempt-port.ts";

export interface OutcomePort {
  /**
   * Takes over a delivery whose attempt is settled. `leftOutTillMs`: when each URL that the attempt left out may be
   * called (see `AttemptFeedback`).
   */
  settled(permit: DeliveryPermit, report: AttemptReport, leftOutTillMs: readonly (number | null)[]): void;
  /** Every request of the attempt has ended; once, after `settled`. */
  finished(permit: DeliveryPermit, report: AttemptReport): void;
}
