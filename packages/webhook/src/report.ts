/** What callers learn of an attempt. */
import type { AttemptOutcome, RequestError, Settlement } from "@posthaste/core/outcome";

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
  /** The start of the response body, known secrets masked; null when there was none, and in the report of `settled`. Made when it is read, so a spread lacks it. */
  readonly answer: string | null;
}

export interface AttemptReport {
  /** What follows from it; `settlement.outcome` is the attempt's outcome. */
  readonly settlement: Settlement;
  /** Ms since the epoch. */
  readonly startedAtMs: number;
  /** The URLs that have their outcome, in the order of the destination's; in the report of `finished` all of them. */
  readonly urls: readonly UrlResult[];
}

export interface AttemptHandle {
  /** Requests that this attempt makes, one for each URL; 0 when the destination has none of the URLs that were asked for. */
  readonly requests: number;
  /** `any`: at the first 2xx, or when every URL failed. `each`: when every URL has its outcome. Never rejects. */
  readonly settled: Promise<AttemptReport>;
  /** When every request has ended, bodies included. Never rejects. Costs nothing unless it is asked for. */
  readonly finished: Promise<AttemptReport>;
}
