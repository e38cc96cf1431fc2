/** What the outcome of a request says about its URL's health. */
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { OutcomeDetails } from "@posthaste/webhook/report";

export function toRequestOutcome(outcome: AttemptOutcome, { error, status }: OutcomeDetails): RequestOutcome {
  if (outcome === "delivered") return "delivered";
  if (outcome === "permanent") return "refused";
  if (error === "timeout") return "timed_out";
  return status === 429 ? "throttled" : "failed";
}
