/** The listener of one attempt: it passes each report of the sender to admission or to the outcome. */

import type { LoggedFollowUp } from "@posthaste/core/delivery/attempt-record";
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { Clock } from "@posthaste/core/time";
import type { StartedSpan } from "@posthaste/runtime/traces";
import type { AttemptListener, AttemptReport, EndDetails, OutcomeDetails } from "@posthaste/webhook/report";
import type { AttemptFeedback, DeliveryPermit } from "../admission/attempt-port.ts";
import { shutForMs } from "../admission/shut-for-ms.ts";
import { toError } from "../to-error.ts";
import { endAttemptSpan } from "./attempt-span.ts";
import type { OutcomePort } from "./outcome-port.ts";
import { toRequestEnd, toRequestOutcome } from "./request-outcome.ts";

export interface PermittedAttemptOptions {
  readonly outcomes: OutcomePort;
  readonly schedule: RetrySchedule;
  readonly clock: Clock;
  readonly onFailure: (reason: Error) => void;
}

const NOTHING: readonly LoggedFollowUp[] = [];

/** There is one object for each attempt, since this is the hot path. */
export class PermittedAttempt implements AttemptListener {
  readonly #permit: DeliveryPermit;
  readonly #feedback: AttemptFeedback;
  readonly #options: PermittedAttemptOptions;
  /** Undefined while traces are off. */
  readonly #span: StartedSpan | undefined;
  #followUps = NOTHING;

  constructor(
    permit: DeliveryPermit,
    feedback: AttemptFeedback,
    options: PermittedAttemptOptions,
    span: StartedSpan | undefined,
  ) {
    this.#permit = permit;
    this.#feedback = feedback;
    this.#options = options;
    this.#span = span;
  }

  onOutcome(index: number, outcome: AttemptOutcome, details: OutcomeDetails): void {
    const { clock, schedule, onFailure } = this.#options;
    try {
      const { notBeforeMs } = details;
      const shutMs = notBeforeMs === null ? null : shutForMs(notBeforeMs, clock.nowMs(), schedule.windowMs);
      this.#feedback.settled(this.#permit, index, toRequestOutcome(outcome, details), shutMs);
    } catch (error) {
      onFailure(toError(error));
    }
  }

  onEnd(index: number, details: EndDetails): void {
    try {
      this.#feedback.ended(this.#permit, index, toRequestEnd(details), details.answerMs);
    } catch (error) {
      this.#options.onFailure(toError(error));
    }
  }

  onSettled(report: AttemptReport): void {
    const { outcomes, onFailure } = this.#options;
    try {
      this.#followUps = outcomes.settled(this.#permit, report, this.#feedback.skippedTillMs(this.#permit));
      if (this.#span !== undefined) endAttemptSpan(this.#span, report);
    } catch (error) {
      onFailure(toError(error));
    }
  }

  onFinished(report: AttemptReport): void {
    const { outcomes, onFailure } = this.#options;
    try {
      outcomes.finished(this.#permit, report, this.#followUps);
    } catch (error) {
      onFailure(toError(error));
    }
  }
}
