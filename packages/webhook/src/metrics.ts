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

/** The state of a sender that its metrics read when the page is made. */
export interface SenderState {
  readonly requestsInFlight: number;
  /** The most connections, and so the most requests in flight. */
  readonly maxConnections: number;
  /** The connections that were made so far. */
  readonly connectionsOpened: number;
}

/** Creates the metrics of a sender of deliveries. */
export function createSenderMetrics(registry: Registry, state: SenderState): SenderMetrics {
  const registers = [registry];
  const count = createCounter(registry, {
    name: "posthaste_attempts_total",
    help: "Requests to receivers (one for each URL of an attempt) by outcome; error is none when a status arrived.",
  });
  gauge(
    "posthaste_requests_in_flight",
    "Requests to receivers that have begun and not ended, bodies of answers included.",
    () => state.requestsInFlight,
  );
  gauge(
    "posthaste_request_slots",
    "The most requests to receivers that may be in flight in this process.",
    () => state.maxConnections,
  );
  new Counter({
    name: "posthaste_connections_opened_total",
    help: "Connections to receivers that were made; many a request mean that the receivers close them.",
    registers,
    collect() {
      this.reset();
      this.inc(state.connectionsOpened);
    },
  });
  return { ...createBudgetCounter(registry), count };

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  }
}

/** Creates the metrics of a sender of test-sends, which are no deliveries and count apart from these. */
export function createTestSenderMetrics(registry: Registry): SenderMetrics {
  const count = createCounter(registry, {
    name: "posthaste_test_sends_total",
    help: "Requests of test-sends to receivers by outcome; error is none when a status arrived.",
  });
  return { ...createBudgetCounter(registry), count };
}

function createCounter(
  registry: Registry,
  described: { readonly name: string; readonly help: string },
): (outcome: AttemptOutcome, error: RequestError | null) => void {
  const counts = new Map<string, number>(PAIRS.map(({ outcome, error }) => [countKey(outcome, error), 0]));
  new Counter({
    ...described,
    labelNames: ["outcome", "error"],
    registers: [registry],
    collect() {
      this.reset();
      for (const pair of PAIRS) this.inc(pair, counts.get(countKey(pair.outcome, pair.error)) ?? 0);
    },
  });
  return (outcome, error) => {
    const key = countKey(outcome, error ?? "none");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
}

function createBudgetCounter(registry: Registry): Pick<SenderMetrics, "countOverBudget"> {
  const overBudget = new Counter({
    name: "posthaste_answers_over_budget_total",
    help: "Answers of receivers that were cut off for their bytes, lines or pieces, or for the time of their body.",
    registers: [registry],
  });
  return { countOverBudget: () => overBudget.inc() };
}

function countKey(outcome: AttemptOutcome, error: RequestError | "none"): string {
  return error === "none" ? outcome : error;
}
