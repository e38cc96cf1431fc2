import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { OutcomeDetails } from "@posthaste/webhook/report";
import { describe, expect, it } from "vitest";
import { toRequestEnd, toRequestOutcome } from "./request-outcome.ts";

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

describe("a URL's breaker", () => {
  it.each([
    ["a 2xx", "delivered", false, "well"],
    ["a refusal", "permanent", false, "well"],
    ["a 2xx whose answer goes on for too long", "delivered", true, "over_budget"],
    ["an answer that is too long before its status", "retryable", true, "failed"],
    ["a failure", "retryable", false, "failed"],
  ] as const)("after %s", (_, outcome, isOverBudget, end) => {
    expect(toRequestEnd({ outcome, isOverBudget, answerMs: 0 })).toBe(end);
  });
});
