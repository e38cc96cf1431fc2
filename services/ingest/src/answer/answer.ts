/** The answers of ingest: calls are accepted, or the whole request is refused. Codes and statuses are public. */
import type { CallRefusal } from "@posthaste/core/call/call";
import { RETRY_AFTER_S } from "../limits.ts";

/** A rejected call of a batch whose other calls were accepted. */
export interface RejectedCall {
  /** The call's index in the batch. */
  readonly index: number;
  readonly code: CallRefusal["code"];
  readonly message: string;
}

export interface Accepted {
  readonly accepted: true;
  readonly rejected: readonly RejectedCall[];
}

/**
 * The values of the metric's label `answer`: `accepted` and `rejected` count calls, the others the calls of refused
 * requests.
 */
export const CALL_ANSWERS = [
  "accepted",
  "rejected",
  "malformed",
  "unauthorized",
  "too_large",
  "rate_limited",
  "unavailable",
  "internal",
] as const;
export type CallAnswer = (typeof CALL_ANSWERS)[number];

export interface Refusal {
  readonly accepted: false;
  readonly status: number;
  readonly code: string;
  /** One sentence with the change that the caller should make. */
  readonly message: string;
  /** The value of `Retry-After`, in seconds. */
  readonly retryAfterS?: number;
  readonly answer: CallAnswer;
  /** The topic of rejected calls has the call. */
  readonly isKept?: true;
}

export type Answer = Accepted | Refusal;

export interface SourcedAnswer {
  readonly answer: Answer;
  /** The id of the request's source; null where it was not found. */
  readonly sourceId: string | null;
}

const NONE_REJECTED: readonly RejectedCall[] = [];

export const ACCEPTED: Accepted = { accepted: true, rejected: NONE_REJECTED };

export function malformed(code: string, message: string, status = 400): Refusal {
  return { accepted: false, status, code, message, answer: "malformed" };
}

export function unauthorized(code: string, message: string): Refusal {
  return { accepted: false, status: 401, code, message, answer: "unauthorized" };
}

export function tooLarge(code: string, message: string): Refusal {
  return { accepted: false, status: 413, code, message, answer: "too_large" };
}

export function rateLimited(retryAfterS: number, message: string): Refusal {
  return { accepted: false, status: 429, code: "rate_limited", message, retryAfterS, answer: "rate_limited" };
}

export function unavailable(code: string, message: string): Refusal {
  return { accepted: false, status: 503, code, message, retryAfterS: RETRY_AFTER_S, answer: "unavailable" };
}

export const SAYS_TOO_MUCH = tooLarge(
  "request_too_large",
  "Compressed, the body holds more text, calls, objects or values than its size allows; send smaller batches, or without compression.",
);
