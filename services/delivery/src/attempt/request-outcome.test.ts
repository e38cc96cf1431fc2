import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { OutcomeDetails } from "@posthaste/webhook/report";
import { describe, expect, it } from "vitest";
import { toRequestOutcome } from "./request-outcome.ts";

type Result = OutcomeDetails & { readonly outcome: AttemptOutcome };

const answered = (outcome: AttemptOutcome, status: number): Result => ({
  outcome,
  status,
  error: null,
  notBeforeMs: null,
});
const timedOut: Result = { outcome: "retryable", status: null, error: "timeout", notBeforeMs: null };

describe("a URL's health", () => {
  it.each<[string, Result, RequestOutcome]>([
    ["a 2xx", answered("delivered", 204), "delivered"],
    ["a refusal", answered("permanent", 404), "refused"],
    ["a 5xx", answered("retryable", 503), "failed"],
    ["a timeout", timedOut, "timed_out"],
    ["429", answered("retryable", 429), "throttled"],
  ])("after %s", (_, result, outcome) => {
    expect(toRequestOutcome(result.outcome, result)).toBe(outcome);
  });
});
