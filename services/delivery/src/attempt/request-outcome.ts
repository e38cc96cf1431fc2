/** The meaning of a request's outcome for its URL's health. */
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { RequestEnd, RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { EndDetails, OutcomeDetails } from "@posthaste/webhook/report";

export function toRequestOutcome(outcome: AttemptOutcome, { error, status }: OutcomeDetails): RequestOutcome {
  if (outcome === "delivered") return "delivered";
  if (outcome === "permanent") return "refused";
  if (error === "timeout") return "timed_out";
  return status === 429 ? "throttled" : "failed";
}

/** The meaning of a request's end for its URL's health. */
export function toRequestEnd({ outcome, isOverBudget }: EndDetails): RequestEnd {
  if (outcome === "retryable") return "failed";
  return isOverBudget ? "over_budget" : "well";
}
