/** What the attempt log keeps of an attempt's URLs: all of it but the responses that the destination does not want kept. */

import type { ResponseLog } from "@posthaste/core/config/destination";
import type { UrlAttempt } from "@posthaste/core/delivery/attempt-record";
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { UrlResult } from "@posthaste/webhook/report";

/** Each URL with the start of its response where `responseLog` keeps that, and null for it elsewhere. */
export function toLoggedUrls(responseLog: ResponseLog, urls: readonly UrlResult[]): readonly UrlAttempt[] {
  return urls.map((result) => {
    const { url, status, error, durationMs } = result;
    // The answer is made when it is read, so one that is not kept costs nothing.
    return {
      url,
      status,
      error,
      durationMs,
      answer: keepsResponse(responseLog, result.outcome) ? result.answer : null,
    };
  });
}

/** By URL: beside one that delivered, another that failed is a failure. */
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
