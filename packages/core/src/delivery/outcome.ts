/**
 * The table of outcomes, and how the URLs of one attempt are judged together.
 *
 * A request ends with a status or with an error of the closed list below, and is delivered, retryable or permanent.
 * `settle` turns the results of all URLs into a settlement.
 */

import type { SettleRule } from "../config/destination.ts";
import type { DeadLetterReason } from "./dead-letter.ts";

export const ATTEMPT_OUTCOMES = ["delivered", "retryable", "permanent"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Why a request failed; the label `error` of `posthaste_attempts_total`, so the list stays small. */
export const REQUEST_ERRORS = [
  /** The response headers did not end within the time allowed, connecting included. */
  "timeout",
  "connection_refused",
  /** The connection ended before the response headers did. */
  "connection_reset",
  /** No route, no free port, or another failure to connect. */
  "connection_failed",
  "dns_failure",
  /** The handshake failed, most often because of the certificate; nothing of the request was sent. */
  "tls_failure",
  /** The answer is not HTTP/1.1, or its headers are too large. */
  "bad_response",
  /**
   * The answer takes more bytes, lines or pieces than an answer may, or its body more time. An answered request may
   * have this error too.
   */
  "answer_over_budget",
  /** The address is in a network that webhooks may not reach; nothing was sent. */
  "address_refused",
  /**
   * The URL or a header cannot be sent. Settings are checked before they are stored, so this is a bug or an old record.
   */
  "invalid_request",
  /** The process gave the request up because it is ending. */
  "shutting_down",
  /** None of the above: a failure that has no row in the table of codes yet. */
  "other",
] as const;
export type RequestError = (typeof REQUEST_ERRORS)[number];

/** How a status is judged. Redirects are never followed, so a 3xx is a refusal like any other 4xx. */
export function classifyStatus(status: number): AttemptOutcome {
  if (status >= 200 && status < 300) return "delivered";
  if (status >= 500 || status === 408 || status === 425 || status === 429) return "retryable";
  return "permanent";
}

/** How a request without a status is judged: it may work later, unless the request itself can never be sent. */
export function classifyError(error: RequestError): AttemptOutcome {
  return error === "address_refused" || error === "invalid_request" ? "permanent" : "retryable";
}

/** True for the statuses whose `Retry-After` is obeyed. */
export function obeysRetryAfter(status: number): boolean {
  return status === 429 || status === 503;
}

/** The part of one URL's result that `settle` needs. */
export interface UrlOutcome {
  readonly url: string;
  readonly outcome: AttemptOutcome;
  /** Null when a status arrived. */
  readonly error: RequestError | null;
  /** From an obeyed `Retry-After`, ms since the epoch; null when there was none. */
  readonly notBeforeMs: number | null;
}

/** URLs to be tried again together. */
export interface RetryPart {
  /** The URLs; null for all that the delivery owed. */
  readonly urls: readonly string[] | null;
  /** Not to be called before this moment, ms since the epoch; null when no receiver asked for it. */
  readonly notBeforeMs: number | null;
}

/** URLs that are given up for good. */
export interface DeadPart {
  /** The URLs; null when the whole delivery is dead. */
  readonly urls: readonly string[] | null;
  readonly reason: Extract<DeadLetterReason, "rejected_by_receiver" | "address_refused">;
}

/** The result of an attempt, and the follow-ups of it. Under `any` at most one part is not empty. */
export interface Settlement {
  /** delivered: nothing follows. retryable: at least one retry follows. permanent: only dead letters follow. */
  readonly outcome: AttemptOutcome;
  readonly retries: readonly RetryPart[];
  readonly dead: readonly DeadPart[];
}

/** The settlement of an attempt that nothing follows. */
export const DELIVERED: Settlement = { outcome: "delivered", retries: [], dead: [] };

/**
 * Judges the results of all URLs of one attempt. Throws RangeError without results: an attempt has at least one URL.
 */
export function settle(rule: SettleRule, results: readonly UrlOutcome[]): Settlement {
  if (results.length === 0) throw new RangeError("an attempt without URLs cannot be settled");
  return rule === "any" ? settleAny(results) : settleEach(results);
}

function settleAny(results: readonly UrlOutcome[]): Settlement {
  if (results.some((result) => result.outcome === "delivered")) return DELIVERED;
  if (results.some((result) => result.outcome === "retryable")) {
    // I5: a URL that sent a `Retry-After` delays no other; the next attempt leaves it out until then.
    const moments = results.flatMap((result) => (result.outcome === "retryable" ? [result.notBeforeMs] : []));
    return { outcome: "retryable", retries: [{ urls: null, notBeforeMs: earliest(moments) }], dead: [] };
  }
  const refused = results.every((result) => result.error === "address_refused");
  return {
    outcome: "permanent",
    retries: [],
    dead: [{ urls: null, reason: refused ? "address_refused" : "rejected_by_receiver" }],
  };
}

/** The earliest of the moments from which a URL may be called; null when one may be called at any time. */
export function earliest(moments: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const moment of moments) {
    if (moment === null) return null;
    if (first === null || moment < first) first = moment;
  }
  return first;
}

function settleEach(results: readonly UrlOutcome[]): Settlement {
  // URLs that wait for the same moment stay together: one retry record, one attempt.
  const waiting = new Map<number | null, string[]>();
  const dead = new Map<DeadPart["reason"], string[]>();
  for (const result of results) {
    if (result.outcome === "retryable") append(waiting, result.notBeforeMs, result.url);
    if (result.outcome === "permanent") {
      append(dead, result.error === "address_refused" ? "address_refused" : "rejected_by_receiver", result.url);
    }
  }
  if (waiting.size === 0 && dead.size === 0) return DELIVERED;
  return {
    outcome: waiting.size > 0 ? "retryable" : "permanent",
    retries: [...waiting].map(([notBeforeMs, urls]) => ({ urls, notBeforeMs })),
    dead: [...dead].map(([reason, urls]) => ({ urls, reason })),
  };
}

function append<K>(groups: Map<K, string[]>, key: K, url: string): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [url]);
  else group.push(url);
}
