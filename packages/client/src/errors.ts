/** The one error family of this library. Programs ask `code`; the message is for people. */

/**
 * Thrown to the caller: `invalid_option` by the constructor; `missing_field`, `invalid_field` and `call_too_large` by a
 * call. Handed to `onError`: `rejected` (the server did not take this call), `refused` (the server did not take the
 * request, and would not the next time), `unavailable` (every attempt failed), `queue_full` and `closed` (never sent).
 */
export const ANALYTICS_ERROR_CODES = [
  "invalid_option",
  "missing_field",
  "invalid_field",
  "call_too_large",
  "rejected",
  "refused",
  "unavailable",
  "queue_full",
  "closed",
] as const;

export type AnalyticsErrorCode = (typeof ANALYTICS_ERROR_CODES)[number];

export interface AnalyticsErrorDetails {
  readonly field?: string | undefined;
  readonly status?: number | undefined;
  readonly serverCode?: string | undefined;
  readonly attempts?: number | undefined;
  readonly cause?: unknown;
}

export class AnalyticsError extends Error {
  override readonly name = "AnalyticsError";
  readonly code: AnalyticsErrorCode;
  /** The field of the call, or the option, that is at fault. */
  readonly field: string | undefined;
  /** The last HTTP status, when there was an answer. */
  readonly status: number | undefined;
  /** The `code` of the server's own error, when it gave one. */
  readonly serverCode: string | undefined;
  /** How many requests were made. */
  readonly attempts: number | undefined;

  constructor(code: AnalyticsErrorCode, message: string, details: AnalyticsErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details.field;
    this.status = details.status;
    this.serverCode = details.serverCode;
    this.attempts = details.attempts;
  }
}
