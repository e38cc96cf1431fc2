/** What callers learn of an attempt. */
import type { AttemptOutcome, RequestError, Settlement } from "@posthaste/core/delivery/outcome";

/** What one URL came to. */
export interface UrlResult {
  readonly url: string;
  readonly outcome: AttemptOutcome;
  readonly status: number | null;
  /** Null when a status arrived. */
  readonly error: RequestError | null;
  /** From the start to the end of the response headers, or to the failure. */
  readonly durationMs: number;
  /** From an obeyed `Retry-After`, ms since the epoch. */
  readonly notBeforeMs: number | null;
  /**
   * The start of the response body, known secrets masked; null when there was none, and while the request has not
   * ended. Made when it is read, so a spread lacks it.
   */
  readonly answer: string | null;
}

export interface AttemptReport {
  /** What follows from it; `settlement.outcome` is the attempt's outcome. */
  readonly settlement: Settlement;
  /** Ms since the epoch. */
  readonly startedAtMs: number;
  /** The URLs that have their outcome, in the order of the destination's; in the report of `onFinished` all of them. */
  readonly urls: readonly UrlResult[];
}

/** Why one URL's request came to its outcome. */
export type OutcomeDetails = Pick<UrlResult, "status" | "error" | "notBeforeMs">;

/**
 * Whoever asked for an attempt. An `index` counts the URLs that are called, in the destination's order. Nothing is
 * called before `attempt` has returned; none may throw.
 */
export interface AttemptListener {
  /** A request has its outcome; once for each. */
  onOutcome(index: number, outcome: AttemptOutcome, details: OutcomeDetails): void;
  /** A request has ended, its outcome told before; once for each. */
  onEnd(index: number): void;
  /** `any`: at the first 2xx, or when every URL failed. `each`: when every URL has its outcome. Once. */
  onSettled(report: AttemptReport): void;
  /** When every request has ended, bodies included. Once, after `onSettled`; nothing more is told. */
  onFinished(report: AttemptReport): void;
}
