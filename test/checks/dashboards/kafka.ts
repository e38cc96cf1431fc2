/** The groups, lags and producers of this system, and the brokers. */
import { type DashboardPlan, max, quantile, sum, sumIncrease, sumRate } from "./panels.ts";

export const KAFKA: DashboardPlan = {
  uid: "posthaste-kafka",
  title: "Posthaste: Kafka side",
  about: "Groups, lags and producers of this system, and the brokers.",
  variables: {},
  rows: [
    {
      title: "Behind",
      panels: [
        { title: "Lag by topic", unit: "s", queries: { "{{topic}}": max("consumer_lag_seconds", "topic") } },
        {
          title: "Worst partitions",
          unit: "s",
          queries: { "{{topic}}/{{partition}}": "topk(10, posthaste_consumer_lag_seconds)" },
        },
        { title: "Lag in records", unit: "short", queries: { "{{topic}}": sum("consumer_lag_records", "topic") } },
        {
          title: "Taken in and not finished",
          unit: "short",
          queries: { "{{topic}}": sum("unfinished_records", "topic") },
        },
        {
          title: "Partitions held by a destination",
          unit: "short",
          queries: { "{{topic}}": "count by (topic) (posthaste_partition_held_by_destination) or vector(0)" },
        },
        {
          title: "Age against the retention",
          unit: "percentunit",
          queries: { "{{topic}}": "max by (topic) (posthaste_consumer_lag_seconds) / 604800" },
        },
      ],
    },
    {
      title: "Groups",
      panels: [
        {
          title: "Partitions owned",
          unit: "short",
          queries: { "{{group}} {{instance}}": sum("partitions_owned", "group", "instance") },
        },
        { title: "Rebalances", unit: "short", queries: { "{{group}}": sumIncrease("rebalances_total", "group") } },
        {
          title: "Rebalances: how long, p99",
          unit: "s",
          queries: { "{{group}}": quantile(0.99, "rebalance_seconds", "group") },
        },
        {
          title: "Commits refused",
          unit: "short",
          queries: { "{{group}}": sumIncrease("commit_failures_total", "group") },
        },
        {
          title: "Commits without space for all",
          unit: "short",
          queries: { "{{group}}": sumIncrease("commit_metadata_truncated_total", "group") },
        },
      ],
    },
    {
      title: "Producers",
      panels: [
        {
          title: "Acknowledgement, p99",
          unit: "s",
          queries: { "{{class}}": quantile(0.99, "producer_send_seconds", "class") },
        },
        {
          title: "Failures by cause",
          unit: "reqps",
          queries: { "{{class}} {{cause}}": sumRate("producer_failures_total", "class", "cause") },
        },
        {
          title: "Connections replaced",
          unit: "short",
          queries: { "{{class}}": sumIncrease("producer_replaced_total", "class") },
        },
        {
          title: "Bytes not acknowledged",
          unit: "bytes",
          queries: { "{{class}}": sum("producer_pending_bytes", "class") },
        },
        {
          title: "Brokers that do not answer",
          unit: "short",
          queries: { "{{broker}}": max("broker_unresponsive", "broker") },
        },
      ],
    },
    {
      title: "Brokers",
      panels: [
        {
          title: "Partitions in trouble",
          unit: "short",
          queries: {
            "without a leader": sum("kafka_controller_kafkacontroller_offlinepartitionscount"),
            "under the minimum in sync": sum("kafka_server_replicamanager_underminisrpartitioncount"),
            "under-replicated": sum("kafka_server_replicamanager_underreplicatedpartitions"),
          },
        },
        {
          title: "Disk left",
          unit: "percentunit",
          queries: { "{{instance}}": "min by (instance) (posthaste:kafka_disk_free:ratio)" },
        },
        {
          title: "Request handlers idle",
          unit: "percentunit",
          queries: {
            "{{instance}}": "min by (instance) (kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent)",
          },
        },
        {
          title: "Produce requests, p99",
          unit: "s",
          queries: {
            "{{instance}}":
              'max by (instance) (kafka_network_requestmetrics_totaltimems{request="Produce",quantile="0.99"}) / 1000',
          },
        },
      ],
    },
  ],
};
