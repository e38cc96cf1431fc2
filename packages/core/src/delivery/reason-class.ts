/** The class of a dead letter's reason: where its cause is mended. */
import {
  type DeadLetterReason,
  type DeadUrl,
  NOT_ATTEMPTED,
  type PastAttempt,
  type ReasonClass,
  URL_REMOVED,
} from "./dead-letter.ts";

export interface EndedDelivery {
  readonly reason: DeadLetterReason;
  readonly lastAttempt: readonly DeadUrl[];
  readonly history: readonly PastAttempt[];
}

/**
 * The class of a delivery that was given up. Where the last attempt that called any URL failed at several, a failure of
 * a receiver decides before a wrong setting, and a wrong setting before a failure of Posthaste.
 */
export function reasonClassOf({ reason, lastAttempt, history }: EndedDelivery): ReasonClass {
  switch (reason) {
    case "destination_disabled":
    case "destination_removed":
    case "address_refused":
    case "suppressed":
      return "configuration";
    case "rejected_by_receiver":
    case "window_expired": {
      const last = lastAttempt.filter(wasCalled);
      const classes = (last.length > 0 ? last : (history.at(-1)?.urls ?? [])).map(urlClassOf);
      if (classes.includes("receiver")) return "receiver";
      return classes.includes("configuration") ? "configuration" : "pipeline";
    }
  }
}

function wasCalled({ error }: DeadUrl): boolean {
  return error !== NOT_ATTEMPTED && error !== URL_REMOVED;
}

/** Statuses that refuse the request's address or its sender, and not its content: a URL or a header must be changed. */
const REFUSED_AS_SET: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410]);

function urlClassOf({ status, error }: DeadUrl): ReasonClass {
  // Redirects are not followed: the URL must be changed to the address that they name.
  if (status !== null)
    return (status >= 300 && status < 400) || REFUSED_AS_SET.has(status) ? "configuration" : "receiver";
  if (error === "address_refused" || error === "invalid_request") return "configuration";
  return error === "shutting_down" || error === "other" || error === null ? "pipeline" : "receiver";
}
