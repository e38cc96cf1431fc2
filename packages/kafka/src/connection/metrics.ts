/** Every metric of this package with its help text. Names and units are public. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { createProducerGauges, type WatchProducer } from "./producer-gauges.ts";

export interface KafkaMetrics {
  readonly brokerUnresponsive: Gauge<"broker">;
  readonly producerReplaced: Counter<"class">;
  readonly producerFailures: Counter<"class" | "cause">;
  readonly watchProducer: WatchProducer;
  readonly producerSendSeconds: Histogram<"class">;
  readonly consumerLagRecords: Gauge<"topic" | "partition">;
  readonly consumerLagSeconds: Gauge<"topic" | "partition">;
  readonly waitingRecords: Gauge<"topic">;
  readonly rebalances: Counter<"group">;
  readonly commitFailures: Counter<"group">;
  readonly commitMetadataTruncated: Counter<"group">;
  readonly rebalanceSeconds: Histogram<"group">;
  readonly partitionsOwned: Gauge<"group">;
  readonly partitionsExpected: Gauge<"group">;
  readonly unfinishedRecords: Gauge<"topic" | "partition">;
  readonly unfinishedBytes: Gauge<"topic" | "partition">;
  readonly retryOverdueSeconds: Gauge<"topic" | "partition">;
  readonly schemaWaitSeconds: Gauge<"topic">;
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
    ...createPartitionMetrics(registers),
    ...createGroupMetrics(registers),
    ...createTableMetrics(registers),
  };
}

type ProducerMetrics = Pick<
  KafkaMetrics,
  "producerReplaced" | "producerFailures" | "watchProducer" | "producerSendSeconds"
>;

function createProducerMetrics(registers: Registry[]): ProducerMetrics {
  return {
    producerReplaced: new Counter({
      name: "posthaste_producer_replaced_total",
      help: "Connections of producers that were thrown away after a failed send or a missed deadline.",
      labelNames: ["class"],
      registers,
    }),
    producerFailures: new Counter({
      name: "posthaste_producer_failures_total",
      help: "Partitions' batches that were sent and not acknowledged, by cause; each goes again, a refused record alone does not.",
      labelNames: ["class", "cause"],
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

type PartitionMetrics = Pick<
  KafkaMetrics,
  | "consumerLagRecords"
  | "consumerLagSeconds"
  | "waitingRecords"
  | "unfinishedRecords"
  | "unfinishedBytes"
  | "retryOverdueSeconds"
>;

function createPartitionMetrics(registers: Registry[]): PartitionMetrics {
  const ofPartition = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ["topic", "partition"], registers });
  return {
    unfinishedRecords: ofPartition(
      "posthaste_unfinished_records",
      "Records of an owned partition that were taken in and are not finished.",
    ),
    unfinishedBytes: ofPartition(
      "posthaste_unfinished_bytes",
      "Bytes of the keys and values of the records of an owned partition that were taken in and are not finished.",
    ),
    retryOverdueSeconds: ofPartition(
      "posthaste_retry_overdue_seconds",
      "Now minus the moment at which the lowest unfinished record of an owned partition of a retry topic fell due; else 0.",
    ),
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
  };
}

type GroupMetrics = Pick<
  KafkaMetrics,
  | "rebalances"
  | "rebalanceSeconds"
  | "commitFailures"
  | "commitMetadataTruncated"
  | "partitionsOwned"
  | "partitionsExpected"
  | "schemaWaitSeconds"
>;

function createGroupMetrics(registers: Registry[]): GroupMetrics {
  const labelNames: "group"[] = ["group"];
  return {
    rebalanceSeconds: new Histogram({
      name: "posthaste_rebalance_seconds",
      help: "From a member's last work before it joins a generation of its group to its assignment in it.",
      labelNames,
      buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60],
      registers,
    }),
    partitionsOwned: new Gauge({
      name: "posthaste_partitions_owned",
      help: "Partitions that this member of the group owns.",
      labelNames,
      registers,
    }),
    partitionsExpected: new Gauge({
      name: "posthaste_partitions_expected",
      help: "Partitions of all topics of the group: the sum that its members should own.",
      labelNames,
      registers,
    }),
    commitMetadataTruncated: new Counter({
      name: "posthaste_commit_metadata_truncated_total",
      help: "Offset commits whose metadata had no space for all finished offsets. Costs repeats, never a record.",
      labelNames,
      registers,
    }),
    schemaWaitSeconds: new Gauge({
      name: "posthaste_schema_wait_seconds",
      help: "How long a topic's records have waited for a schema that the registry does not give; else 0.",
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
