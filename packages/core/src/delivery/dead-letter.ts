/** Dead letters: deliveries that will not be tried again, and why. */
import type { Delivery } from "./delivery.ts";

/** The closed list of reasons. */
export const DEAD_LETTER_REASONS = [
  /** The retry window ended. */
  "window_expired",
  /** Every URL answered with a permanent refusal. */
  "rejected_by_receiver",
  /** The address is in a network that webhooks may not reach. */
  "address_refused",
  "destination_disabled",
  "destination_removed",
  /** A deletion asked for it. */
  "suppressed",
] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** The error of a URL that was not sent to because its destination has it no more. */
export const URL_REMOVED = "url_removed";
/** The error of a URL that was still to be served when its delivery was given up without an attempt. */
export const NOT_ATTEMPTED = "not_attempted";

/** What a URL answered. */
export interface DeadUrl {
  readonly url: string;
  /** Null when no status arrived. */
  readonly status: number | null;
  /** A code, null when a status arrived; `URL_REMOVED` or `NOT_ATTEMPTED` where nothing was sent. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** One record of `posthaste.dead-letters`; its fields are those of `schemas/dead-letter.avsc`. */
export interface DeadLetter extends Delivery {
  readonly reason: DeadLetterReason;
  readonly deadAtMs: number;
  readonly attempts: number;
  readonly deferrals: number;
  /** The first failed attempt or the first deferral; null when there was neither. */
  readonly windowStartMs: number | null;
  /**
   * Of the attempt that ended it; empty when it was given up without one, even after earlier attempts. Under `settle:
   * each` only the URLs that are dead; those that were still to be served when it was given up without an attempt are
   * named too.
   */
  readonly lastAttempt: readonly DeadUrl[];
}
