/** Advice where a test was not taken: the event, its reason, and the remedy. */
import type { TestAnswer } from "../api/api-types.ts";

const OF_ERRORS: Readonly<Record<string, string>> = {
  timeout: "No answer came in time. Is the receiver running, and does it answer before its own work is done?",
  connection_refused: "Nothing listens there. Is the receiver running, and is the port right?",
  connection_reset: "The connection ended before an answer. Is it HTTP that listens there, or HTTPS?",
  connection_failed: "The network has no way to it. Is the address right, and may this machine reach it?",
  dns_failure: "The host has no address. Is its name typed right?",
  tls_failure: "The certificate is not trusted, such as a self-signed one, or the port speaks no TLS. Mend it there.",
  bad_response: "What answered is not HTTP/1.1. Is the port right?",
  answer_over_budget:
    "It is more than 32 KB beside its body, or the body takes more than 5 s. Answer with a status alone.",
  address_refused:
    "The address is in a network that webhooks may not reach. An operator allows it: POSTHASTE_ALLOW_NETWORKS.",
  invalid_request: "The URL or a header cannot be sent. Look at them again.",
};

const OF_STATUSES: Readonly<Record<number, string>> = {
  401: "The receiver asks who sends: a header such as Authorization is missing or wrong, or it checks the signature.",
  403: "The receiver forbids it: check its headers, its secret, and whether it lets this address in.",
  404: "The receiver has nothing at this path. Is the URL whole?",
  405: "The receiver takes no POST at this path.",
  413: "The body is too large for the receiver: its limit has to allow 32 KB.",
  429: "The receiver asks for fewer requests: set a limit of requests a second.",
};

/** A URL's answer to a test with advice, in a line at its field; null where it took it. */
export function faultOf({ outcome, status, error }: TestAnswer["urls"][number]): string | null {
  if (outcome === "delivered") return null;
  return [`It answered ${status ?? `nothing (${error ?? "no answer"})`}.`, adviceOf(status, error) ?? ""]
    .join(" ")
    .trim();
}

/** Null where nothing can be said. */
export function adviceOf(status: number | null, error: string | null): string | null {
  if (status === null) return error === null ? null : (OF_ERRORS[error] ?? null);
  if (status >= 500) return "The receiver failed: its own log says why.";
  if (status >= 300 && status < 400) return "Redirects are not followed: give the URL that it leads to.";
  return OF_STATUSES[status] ?? "The receiver refuses it: its answer says why.";
}
