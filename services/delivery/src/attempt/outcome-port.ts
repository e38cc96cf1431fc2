/** The port of the outcome, the stage after the attempt. */
import type { LoggedFollowUp } from "@posthaste/core/delivery/attempt-record";
import type { AttemptReport } from "@posthaste/webhook/report";
import type { DeliveryPermit } from "../admission/attempt-port.ts";

export interface OutcomePort {
  /**
   * Takes over a delivery whose attempt is settled. `skippedTillMs`: when each URL that the attempt skipped may be
   * called (see `AttemptFeedback`). Returns the follow-ups that it published, for `finished`.
   */
  settled(
    permit: DeliveryPermit,
    report: AttemptReport,
    skippedTillMs: readonly (number | null)[],
  ): readonly LoggedFollowUp[];
  /** Every request of the attempt has ended. Called once, after `settled`, with the answer of that. */
  finished(permit: DeliveryPermit, report: AttemptReport, followUps: readonly LoggedFollowUp[]): void;
}
