/**
 * Maps the codes of undici, Node and OpenSSL to the closed list of request errors. It looks at codes and never at an
 * error's message.
 */
import type { RequestError } from "@posthaste/core/delivery/outcome";
import { errors } from "undici";

/** The codes of the errors that this package makes. */
export const ADDRESS_REFUSED = "POSTHASTE_ADDRESS_REFUSED";
export const TIMED_OUT = "POSTHASTE_TIMED_OUT";
export const ANSWER_OVER_BUDGET = "POSTHASTE_ANSWER_OVER_BUDGET";
export const SHUTTING_DOWN = "POSTHASTE_SHUTTING_DOWN";
export const TLS_FAILED = "POSTHASTE_TLS_FAILED";
export const DNS_FAILED = "POSTHASTE_DNS_FAILED";

/** An error of this package, with a code for the table below. */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

const TABLE: ReadonlyMap<string, RequestError> = new Map([
  [ADDRESS_REFUSED, "address_refused"],
  [TIMED_OUT, "timeout"],
  [ANSWER_OVER_BUDGET, "answer_over_budget"],
  [SHUTTING_DOWN, "shutting_down"],
  [TLS_FAILED, "tls_failure"],
  [DNS_FAILED, "dns_failure"],
  ["ETIMEDOUT", "timeout"],
  ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
  ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
  ["ECONNREFUSED", "connection_refused"],
  ["ECONNRESET", "connection_reset"],
  ["ECONNABORTED", "connection_reset"],
  ["EPIPE", "connection_reset"],
  ["UND_ERR_SOCKET", "connection_reset"],
  ["EHOSTUNREACH", "connection_failed"],
  ["EHOSTDOWN", "connection_failed"],
  ["ENETUNREACH", "connection_failed"],
  ["ENETDOWN", "connection_failed"],
  ["EADDRNOTAVAIL", "connection_failed"],
  ["EADDRINUSE", "connection_failed"],
  ["EACCES", "connection_failed"],
  ["EPERM", "connection_failed"],
  ["EMFILE", "connection_failed"],
  ["ENFILE", "connection_failed"],
  ["ENOBUFS", "connection_failed"],
  ["UND_ERR_HEADERS_OVERFLOW", "bad_response"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "bad_response"],
  ["UND_ERR_INVALID_ARG", "invalid_request"],
  ["UND_ERR_NOT_SUPPORTED", "invalid_request"],
  ["UND_ERR_DESTROYED", "shutting_down"],
  ["UND_ERR_CLOSED", "shutting_down"],
]);

/** Returns the request error for a failure of a connection or request; `other` for a code that has no row. */
export function toRequestError(reason: unknown): RequestError {
  // The class decides here, since undici's parser errors were seen to come without their code.
  if (reason instanceof errors.HTTPParserError) return "bad_response";
  return TABLE.get(codeOf(reason) ?? "") ?? "other";
}

/** True when the connection ended before the request did, so that a new connection may do better. */
export function isConnectionLost(reason: unknown): boolean {
  return toRequestError(reason) === "connection_reset";
}

/** True when the code says that the connection itself failed, during a handshake or later. */
export function isSystemFailure(reason: unknown): boolean {
  const code = codeOf(reason);
  return code !== null && TABLE.has(code);
}

function codeOf(reason: unknown): string | null {
  if (typeof reason !== "object" || reason === null || !("code" in reason)) return null;
  return typeof reason.code === "string" ? reason.code : null;
}
