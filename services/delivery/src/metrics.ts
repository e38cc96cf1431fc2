/** The metrics of delivery, without the metrics of its consumers, producers and sender. */

import { DEAD_LETTER_REASONS, type DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import { DEFERRED_CAUSES } from "@posthaste/core/delivery/deferred-cause";
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from "@posthaste/core/delivery/outcome";
import { BREAKER_STATES, type BreakerState } from "@posthaste/core/isolation/circuit-breaker";
import { LatencyHistogram } from "@posthaste/runtime/latency-histogram";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { DestinationSeries } from "./destination-series.ts";

export interface DeliveryMetrics {
  /** How many attempts at deliveries were settled so far, by outcome. */
  readonly deliveries: Record<AttemptOutcome, number>;
  /** How often a breaker came to each state so far. */
  readonly breakerTransitions: Record<BreakerState, number>;
  readonly firstAttemptDelay: LatencyHistogram;
  readonly requestSeconds: LatencyHistogram;
  readonly destinations: DestinationSeries;
  readonly endToEnd: LatencyHistogram;
  readonly deferred: Counter<"cause">;
  readonly deadLetters: Counter<"reason">;
  readonly repeats: Counter<"kind">;
  readonly droppedOrigins: Counter<"what">;
  readonly unreadable: Counter;
  readonly retryLateness: Histogram<"topic">;
  readonly attemptLogDropped: Counter;
}

export interface HeldPartition {
  readonly topic: string;
  readonly partition: number;
  readonly destination: string;
}

export interface DeliveryGauges {
  /** How many URLs have a breaker in each state. */
  readonly breakers: () => Readonly<Record<BreakerState, number>>;
  /** How many deliveries wait in memory for admission to their destination. */
  readonly waitingForAdmission: () => number;
  /** The owned partitions whose lowest unfinished record waits for its destination. */
  readonly heldPartitions: () => Iterable<HeldPartition>;
  /** How many destinations have secrets that no key of this process opens. */
  readonly unknownKeys: () => number;
}

/** The most destinations with series of their own; `POSTHASTE_METRICS_DESTINATIONS` says otherwise. */
export const DEFAULT_DESTINATION_CAP = 300;

export function createDeliveryMetrics(
  registry: Registry,
  retryTopics: readonly string[],
  cap = DEFAULT_DESTINATION_CAP,
): DeliveryMetrics {
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
    ...createAttemptMetrics(registry, cap),
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

/** The metrics of settled attempts, of all destinations together and of single ones. */
function createAttemptMetrics(registry: Registry, cap: number) {
  return {
    deliveries: countByLabel(registry, ATTEMPT_OUTCOMES, {
      name: "posthaste_deliveries_total",
      help: "Attempts at deliveries that were settled, by outcome; each is one, however many URLs it called.",
      label: "outcome",
    }),
    breakerTransitions: countByLabel(registry, BREAKER_STATES, {
      name: "posthaste_breaker_transitions_total",
      help: "How often the breaker of a URL came to a state.",
      label: "to",
    }),
    firstAttemptDelay: new LatencyHistogram({
      name: "posthaste_first_attempt_delay_seconds",
      help:
        "From the receipt of a call to its delivery's first attempt. Without deliveries that waited for their own " +
        "destination; one that was deferred for an unknown key counts with the whole retry window.",
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registry,
    }),
    requestSeconds: new LatencyHistogram({
      name: "posthaste_request_seconds",
      help: "From the start of a request to a receiver to the end of its answer's head, or to its failure.",
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registry,
    }),
    destinations: new DestinationSeries({ registry, cap, monotonicMs: () => performance.now() }),
  };
}

/** Counts in plain numbers, of which the page is made: a delivery then costs an addition. */
function countByLabel<Value extends string>(
  registry: Registry,
  values: readonly Value[],
  { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
): Record<Value, number> {
  const counts = Object.fromEntries(values.map((value) => [value, 0])) as Record<Value, number>;
  new Counter({
    ...{ name, help, labelNames: [label], registers: [registry] },
    collect() {
      this.reset();
      for (const value of values) this.inc({ [label]: value }, counts[value]);
    },
  });
  return counts;
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
  new Gauge({
    name: "posthaste_partition_held_by_destination",
    help:
      "1 while the lowest unfinished record of an owned partition waits for its destination's room or answer; no series " +
      "otherwise. Lag is then the receiver's.",
    labelNames: ["topic", "partition", "destination"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { topic, partition, destination } of gauges.heldPartitions()) {
        this.set({ topic, partition, destination }, 1);
      }
    },
  });
  new Gauge({
    name: "posthaste_destinations_unknown_key",
    help: "Destinations whose secrets no key of this process opens; their deliveries are deferred until one does.",
    registers: [registry],
    collect() {
      this.set(gauges.unknownKeys());
    },
  });
}
