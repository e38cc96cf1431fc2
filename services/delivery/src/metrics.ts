/** The metrics of delivery, without the metrics of its consumers, producers and sender. */

import { DEAD_LETTER_REASONS, type DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import { DEFERRED_CAUSES } from "@posthaste/core/delivery/deferred-cause";
import { BREAKER_STATES, type BreakerState } from "@posthaste/core/isolation/circuit-breaker";
import { LatencyHistogram } from "@posthaste/runtime/latency-histogram";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export interface DeliveryMetrics {
  readonly endToEnd: LatencyHistogram;
  readonly deferred: Counter<"cause">;
  readonly deadLetters: Counter<"reason">;
  readonly repeats: Counter<"kind">;
  readonly droppedOrigins: Counter<"what">;
  readonly unreadable: Counter;
  readonly retryLateness: Histogram<"topic">;
  readonly attemptLogDropped: Counter;
}

export interface DeliveryGauges {
  /** How many URLs have a breaker in each state. */
  readonly breakers: () => Readonly<Record<BreakerState, number>>;
  /** How many deliveries wait in memory for admission to their destination. */
  readonly waitingForAdmission: () => number;
}

export function createDeliveryMetrics(registry: Registry, retryTopics: readonly string[]): DeliveryMetrics {
  const registers = [registry];
  const deferred = new Counter({
    name: "posthaste_deferred_total",
    help: "Deliveries that went to a retry topic without a request, by cause.",
    labelNames: ["cause"],
    registers,
  });
  for (const cause of DEFERRED_CAUSES) deferred.inc({ cause }, 0);
  const deadLetters = new Counter({
    name: "posthaste_dead_letters_total",
    help: "Deliveries that were given up, by reason.",
    labelNames: ["reason"],
    registers,
  });
  for (const reason of DEAD_LETTER_REASONS) deadLetters.inc({ reason } satisfies { reason: DeadLetterReason }, 0);
  const droppedOrigins = new Counter({
    name: "posthaste_origins_left_out_total",
    help:
      "What the commits of deliveries left out of what tells a router's repeats, since it was too long, counted at each " +
      "commit: entry, that of an events partition, the one written longest ago; destination, the place within the last " +
      "event. Costs repeats, never a record.",
    labelNames: ["what"],
    registers,
  });
  for (const what of ["entry", "destination"]) droppedOrigins.inc({ what }, 0);
  const repeats = new Counter({
    name: "posthaste_repeats_dropped_total",
    help:
      "Records that were finished unsent: origin, written twice by a router; " +
      "hand_off, written twice to a retry topic.",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of ["origin", "hand_off"]) repeats.inc({ kind }, 0);
  const retryLateness = new Histogram({
    name: "posthaste_retry_lateness_seconds",
    help: "How long after its due time a record left its retry topic, jitter not counted.",
    labelNames: ["topic"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  for (const topic of retryTopics) retryLateness.zero({ topic });
  return {
    endToEnd: new LatencyHistogram({
      name: "posthaste_end_to_end_latency_seconds",
      help: "From the receipt of a call to the first 2xx for its delivery; without deliveries that have 2xx from attempts for some of their URLs alone, as retries under `settle: each` may be.",
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600, 14_400],
      registry,
    }),
    deferred,
    deadLetters,
    repeats,
    droppedOrigins,
    unreadable: new Counter({
      name: "posthaste_unreadable_deliveries_total",
      help: "Records of the deliveries and retry topics that no schema reads; they are put aside in posthaste.unreadable.",
      registers,
    }),
    retryLateness,
    attemptLogDropped: new Counter({
      name: "posthaste_attempt_log_dropped_total",
      help: "Attempts that were not logged, since too many waited for the brokers.",
      registers,
    }),
  };
}

export function createDeliveryGauges(registry: Registry, gauges: DeliveryGauges): void {
  new Gauge({
    name: "posthaste_breaker_state",
    help: "URLs of destinations that this process knows, by the state of their breaker.",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const counts = gauges.breakers();
      for (const state of BREAKER_STATES) this.set({ state }, counts[state]);
    },
  });
  new Gauge({
    name: "posthaste_deliveries_waiting_for_room",
    help: "Deliveries in memory that wait for a permit to call their destination.",
    registers: [registry],
    collect() {
      this.set(gauges.waitingForAdmission());
    },
  });
}
