/** The report of an attempt, as its callers get it. */
import type { AttemptOutcome, RequestError, Settlement } from "@posthaste/core/delivery/outcome";

/** The outcome of an attempt at a URL. */
export interface UrlResult {
  readonly url: string;
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  /** Null when a status arrived, unless the rest of the answer went over its budget. */
  readonly error: RequestError | null;
  /** The time from the start of the request to the end of the response headers, or to the failure. */
  readonly durationMs: number;
  /** The earliest time of the next request by a `Retry-After` that is obeyed, in ms since the epoch. */
  readonly notBeforeMs: number | null;
  /**
   * The start of the response body with known secrets masked; null when there was no body, and while the request has
   * not ended. The text is made when it is read, so a spread copy lacks it.
   */
  readonly answer: string | null;
}

export interface AttemptReport {
  /** The settlement of the attempt; `settlement.outcome` is the attempt's outcome. */
  readonly settlement: Settlement;
  /** When the attempt started, in ms since the epoch. */
  readonly startedAtMs: number;
  /** The URLs that have their outcome, in the order of the destination's; in the report of `onFinished` all of them. */
  readonly urls: readonly UrlResult[];
}

/** The reason for the outcome of a URL's request. */
export type OutcomeDetails = Pick<UrlResult, "status" | "error" | "notBeforeMs">;

/** The end of a URL's request. */
export interface EndDetails {
  readonly outcome: AttemptOutcome | null;
  /** The answer went over its budget, before its final status or after it. */
  readonly isOverBudget: boolean;
  /** The processor time of reading the answer, in ms. */
  readonly answerMs: number;
}

/**
 * The listener of an attempt's caller. An `index` counts the URLs that are called, in the destination's order. The
 * attempt calls no method before `attempt` has returned. No method may throw.
 */
export interface AttemptListener {
  /** Called once for each request, when it has its outcome. */
  onOutcome(index: number, outcome: AttemptOutcome, details: OutcomeDetails): void;
  /** Called once for each request, when it has ended; `onOutcome` was called before. */
  onEnd(index: number, details: EndDetails): void;
  /**
   * Called once: under `any` at the first 2xx or when every URL failed, under `each` when every URL has its outcome.
   */
  onSettled(report: AttemptReport): void;
  /** Called once and last, after `onSettled`, when every request has ended with its response body. */
  onFinished(report: AttemptReport): void;
}
