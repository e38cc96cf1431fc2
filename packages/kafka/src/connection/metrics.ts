/** Every metric of this package with its help text. Names and units are public. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { createProducerGauges, type WatchProducer } from "./producer-gauges.ts";

export interface KafkaMetrics {
  readonly brokerUnresponsive: Gauge<"broker">;
  readonly producerReplaced: Counter<"class">;
  readonly watchProducer: WatchProducer;
  readonly producerSendSeconds: Histogram<"class">;
  readonly consumerLagRecords: Gauge<"topic" | "partition">;
  readonly consumerLagSeconds: Gauge<"topic" | "partition">;
  readonly waitingRecords: Gauge<"topic">;
  readonly rebalances: Counter<"group">;
  readonly commitFailures: Counter<"group">;
  readonly tableRecords: Gauge<"topic">;
  readonly tableStaleRecords: Counter<"topic">;
  readonly tableBehindRecords: Gauge<"topic">;
  readonly tableCaughtUpTimestamp: Gauge<"topic">;
  readonly unreadableRecords: Counter<"topic" | "reason">;
}

/**
 * Creates the metrics once for a process's registry. The code that knows a label's values sets each to 0 at the start.
 */
export function createKafkaMetrics(registry: Registry): KafkaMetrics {
  const registers = [registry];
  return {
    brokerUnresponsive: new Gauge({
      name: "posthaste_broker_unresponsive",
      help: "1 while a broker does not answer the liveness watch and another does, else 0.",
      labelNames: ["broker"],
      registers,
    }),
    ...createProducerMetrics(registers),
    ...createConsumerMetrics(registers),
    ...createTableMetrics(registers),
  };
}

type ProducerMetrics = Pick<KafkaMetrics, "producerReplaced" | "watchProducer" | "producerSendSeconds">;

function createProducerMetrics(registers: Registry[]): ProducerMetrics {
  return {
    producerReplaced: new Counter({
      name: "posthaste_producer_replaced_total",
      help: "Connections of producers that were thrown away after a failed send or a missed deadline.",
      labelNames: ["class"],
      registers,
    }),
    watchProducer: createProducerGauges(registers),
    producerSendSeconds: new Histogram({
      name: "posthaste_producer_send_seconds",
      help: "Time from a produce request to the acknowledgement by all in-sync replicas, one observation a request.",
      labelNames: ["class"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}

type ConsumerMetrics = Pick<
  KafkaMetrics,
  "consumerLagRecords" | "consumerLagSeconds" | "waitingRecords" | "rebalances" | "commitFailures"
>;

function createConsumerMetrics(registers: Registry[]): ConsumerMetrics {
  return {
    consumerLagRecords: new Gauge({
      name: "posthaste_consumer_lag_records",
      help: "Records of an owned partition that are not finished: end offset minus committable offset.",
      labelNames: ["topic", "partition"],
      registers,
    }),
    consumerLagSeconds: new Gauge({
      name: "posthaste_consumer_lag_seconds",
      help: "Now minus the append time of the lowest unfinished record of an owned partition; 0 when there is none.",
      labelNames: ["topic", "partition"],
      registers,
    }),
    waitingRecords: new Gauge({
      name: "posthaste_waiting_records",
      help: "Records that wait in the owned partitions of a retry topic.",
      labelNames: ["topic"],
      registers,
    }),
    rebalances: new Counter({
      name: "posthaste_rebalances_total",
      help: "Times this process joined a generation of a consumer group.",
      labelNames: ["group"],
      registers,
    }),
    commitFailures: new Counter({
      name: "posthaste_commit_failures_total",
      help: "Offset commits that the brokers did not accept.",
      labelNames: ["group"],
      registers,
    }),
  };
}

type TableMetrics = Pick<
  KafkaMetrics,
  "tableRecords" | "tableStaleRecords" | "tableBehindRecords" | "tableCaughtUpTimestamp" | "unreadableRecords"
>;

function createTableMetrics(registers: Registry[]): TableMetrics {
  return {
    tableRecords: new Gauge({
      name: "posthaste_table_records",
      help: "Keys held in the in-memory table of a compacted topic.",
      labelNames: ["topic"],
      registers,
    }),
    tableStaleRecords: new Counter({
      name: "posthaste_table_stale_records_total",
      help: "Records of a table that were ignored because a newer revision is held.",
      labelNames: ["topic"],
      registers,
    }),
    tableBehindRecords: new Gauge({
      name: "posthaste_table_behind_records",
      help: "Offsets between what an in-memory table has read and its topic's end, at its last fetch.",
      labelNames: ["topic"],
      registers,
    }),
    tableCaughtUpTimestamp: new Gauge({
      name: "posthaste_table_caught_up_timestamp_seconds",
      help: "When an in-memory table last held all of its topic, in seconds since the epoch; 0 before the first time.",
      labelNames: ["topic"],
      registers,
    }),
    unreadableRecords: new Counter({
      name: "posthaste_unreadable_records_total",
      help: "Records that were passed over because their value cannot be read.",
      labelNames: ["topic", "reason"],
      registers,
    }),
  };
}
