/** The sender's metrics. Its counts are plain numbers that the registry collects, so a request costs an increment. */
import {
  type AttemptOutcome,
  classifyError,
  REQUEST_ERRORS,
  type RequestError,
} from "@posthaste/core/delivery/outcome";
import { Counter, Gauge, type Registry } from "prom-client";

export interface SenderMetrics {
  /** Counts a POST with its outcome; the error is null when a status arrived. */
  count(outcome: AttemptOutcome, error: RequestError | null): void;
  /** Counts an answer that went over its budget. */
  countOverBudget(): void;
}

/**
 * Every pair of label values that can occur: a status goes with any outcome, an error with the outcome of its class.
 */
const PAIRS: readonly { outcome: AttemptOutcome; error: RequestError | "none" }[] = [
  { outcome: "delivered", error: "none" },
  { outcome: "retryable", error: "none" },
  { outcome: "permanent", error: "none" },
  ...REQUEST_ERRORS.map((error) => ({ outcome: classifyError(error), error })),
];

export function createSenderMetrics(registry: Registry, requestsInFlight: () => number): SenderMetrics {
  const counts = new Map<string, number>(PAIRS.map(({ outcome, error }) => [countKey(outcome, error), 0]));
  new Counter({
    name: "posthaste_attempts_total",
    help: "Requests to receivers (one for each URL of an attempt) by outcome; error is none when a status arrived.",
    labelNames: ["outcome", "error"],
    registers: [registry],
    collect() {
      this.reset();
      for (const pair of PAIRS) this.inc(pair, counts.get(countKey(pair.outcome, pair.error)) ?? 0);
    },
  });
  new Gauge({
    name: "posthaste_requests_in_flight",
    help: "Requests to receivers that have begun and not ended, bodies of answers included.",
    registers: [registry],
    collect() {
      this.set(requestsInFlight());
    },
  });
  const overBudget = new Counter({
    name: "posthaste_answers_over_budget_total",
    help: "Answers of receivers that were cut off for their bytes, their pieces or the time of their body.",
    registers: [registry],
  });
  return {
    countOverBudget() {
      overBudget.inc();
    },
    count(outcome, error) {
      const key = countKey(outcome, error ?? "none");
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}

function countKey(outcome: AttemptOutcome, error: RequestError | "none"): string {
  return error === "none" ? outcome : error;
}
