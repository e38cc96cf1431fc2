/**
 * The URLs of an attempt as the attempt log has them: everything but the responses that the destination wants left out.
 */

import type { ResponseLog } from "@posthaste/core/config/destination";
import type { UrlAttempt } from "@posthaste/core/delivery/attempt-record";
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { UrlResult } from "@posthaste/webhook/report";

/** Returns each URL with the start of its response where `responseLog` keeps that, and else with null. */
export function toLoggedUrls(responseLog: ResponseLog, urls: readonly UrlResult[]): readonly UrlAttempt[] {
  return urls.map((result) => {
    const { url, status, error, durationMs } = result;
    // The result makes its answer when it is read, so an answer that is not kept costs nothing.
    return {
      url,
      status,
      error,
      durationMs,
      answer: keepsResponse(responseLog, result.outcome) ? result.answer : null,
    };
  });
}

/** Decides by the URL's own outcome: a URL that failed beside another that delivered counts as a failure. */
function keepsResponse(responseLog: ResponseLog, outcome: AttemptOutcome): boolean {
  switch (responseLog) {
    case "all":
      return true;
    case "failures":
      return outcome !== "delivered";
    case "off":
      return false;
  }
}
