/**
 * The fourth stage of a delivery: the attempt of each permit that admission gave, at all URLs of the permit at once.
 *
 * Owns nothing: the sender owns the requests, and one `PermittedAttempt` listens to each attempt.
 */

import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { Clock } from "@posthaste/core/time";
import type { Traces } from "@posthaste/runtime/traces";
import type { WebhookSender } from "@posthaste/webhook/sender";
import type { AttemptFeedback, AttemptPort, DeliveryPermit } from "../admission/attempt-port.ts";
import { startAttemptSpan } from "./attempt-span.ts";
import type { OutcomePort } from "./outcome-port.ts";
import { PermittedAttempt } from "./permitted-attempt.ts";

export interface AttemptsOptions {
  readonly sender: Pick<WebhookSender, "attempt">;
  readonly outcomes: OutcomePort;
  readonly schedule: RetrySchedule;
  readonly clock: Clock;
  /** Absent while traces are off. */
  readonly traces?: Traces | undefined;
  /** A later part threw where nobody catches: a bug. */
  readonly onFailure: (reason: Error) => void;
}

export class Attempts implements AttemptPort {
  readonly #options: AttemptsOptions;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  start(permit: DeliveryPermit, feedback: AttemptFeedback): void {
    const { delivery, destination, progress } = permit.request;
    const { messageId, body } = delivery;
    const callsAll = permit.lines.length === destination.urls.length;
    const urls = callsAll ? null : permit.lines.map(({ health }) => health.url);
    const attempt = progress.attempts + 1;
    const { traces, sender } = this.#options;
    const span = traces && startAttemptSpan(traces, permit.request, attempt);
    const listener = new PermittedAttempt(permit, feedback, this.#options, span);
    sender.attempt({ destination, messageId, body, attempt, urls }, listener);
  }
}
