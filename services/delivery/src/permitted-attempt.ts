/** One attempt as the sender's listener hears of it: each stage goes on to whoever follows it up. */

import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import { PosthasteError } from "@posthaste/core/errors";
import type { AttemptListener, AttemptReport, OutcomeDetails } from "@posthaste/webhook/report";
import type { DeliveryPermit } from "./isolation.ts";

/** What is done at each stage of an attempt. */
export interface AttemptStages {
  settled(permit: DeliveryPermit, index: number, outcome: AttemptOutcome, details: OutcomeDetails): void;
  ended(permit: DeliveryPermit, index: number): void;
  settle(permit: DeliveryPermit, report: AttemptReport): void;
  finish(permit: DeliveryPermit, report: AttemptReport): void;
  /** Something was thrown where nobody waits: a bug. */
  onFailure(reason: Error): void;
}

/** Listens to the attempt of one permit; one object an attempt, since this is the hot path. */
export class PermittedAttempt implements AttemptListener {
  readonly #permit: DeliveryPermit;
  readonly #stages: AttemptStages;

  constructor(permit: DeliveryPermit, stages: AttemptStages) {
    this.#permit = permit;
    this.#stages = stages;
  }

  onOutcome(index: number, outcome: AttemptOutcome, details: OutcomeDetails): void {
    try {
      this.#stages.settled(this.#permit, index, outcome, details);
    } catch (error) {
      this.#stages.onFailure(toError(error));
    }
  }

  onEnd(index: number): void {
    try {
      this.#stages.ended(this.#permit, index);
    } catch (error) {
      this.#stages.onFailure(toError(error));
    }
  }

  onSettled(report: AttemptReport): void {
    try {
      this.#stages.settle(this.#permit, report);
    } catch (error) {
      this.#stages.onFailure(toError(error));
    }
  }

  onFinished(report: AttemptReport): void {
    try {
      this.#stages.finish(this.#permit, report);
    } catch (error) {
      this.#stages.onFailure(toError(error));
    }
  }
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new PosthasteError("internal", String(error));
}
