/** The cost of each process. */
import { type DashboardPlan, max, ours, sum, sumRate } from "./panels.ts";

export const PROCESS: DashboardPlan = {
  uid: "posthaste-process",
  title: "Posthaste: the processes",
  about: "What each process uses, and what it costs.",
  variables: {
    service: "label_values(posthaste_build_info, service)",
    instance: "label_values(posthaste_build_info, instance)",
  },
  rows: [
    {
      title: "By service",
      panels: [
        {
          title: "CPU",
          unit: "cores",
          queries: { "{{service}}": sumRate(ours("process_cpu_seconds_total"), "service") },
        },
        {
          title: "Memory",
          unit: "bytes",
          queries: { "{{instance}}": max(ours("process_resident_memory_bytes"), "instance") },
        },
        { title: "Memory limit", unit: "bytes", queries: { "{{instance}}": max("memory_limit_bytes", "instance") } },
        {
          title: "Event loop, p99",
          unit: "s",
          queries: { "{{instance}}": max(ours("nodejs_eventloop_lag_p99_seconds"), "instance") },
        },
        {
          title: "Garbage collection",
          unit: "cores",
          queries: { "{{instance}} {{kind}}": sumRate(ours("nodejs_gc_duration_seconds_sum"), "instance", "kind") },
        },
        { title: "Descriptors", unit: "short", queries: { "{{instance}}": max(ours("process_open_fds"), "instance") } },
      ],
    },
    {
      title: "What it costs",
      panels: [
        {
          title: "CPU seconds a thousand events",
          unit: "s",
          queries: { all: `1000 * ${sumRate(ours("process_cpu_seconds_total"))} / ${sumRate("routed_events_total")}` },
        },
        {
          title: "New connections a request",
          unit: "short",
          queries: { all: `${sumRate("connections_opened_total")} / ${sumRate("attempts_total")}` },
        },
        {
          title: "Cores while idle",
          unit: "cores",
          queries: {
            services: `${sum('process_cpu_seconds_total{job="posthaste"}[5m]').replace("sum (", "sum(rate(")}) and on () (sum(rate(posthaste_ingest_calls_total{answer="accepted"}[5m])) < 1)`,
          },
        },
        {
          title: "Render of the metrics",
          unit: "s",
          queries: { "{{service}}": max("scrape_render_seconds", "service") },
        },
      ],
    },
    {
      title: "State",
      panels: [
        {
          title: "Ready",
          unit: "bool_yes_no",
          queries: { "{{service}} {{check}}": "min by (service, check) (posthaste_ready)" },
        },
        {
          title: "Rows of tables",
          unit: "short",
          queries: { "{{service}} {{topic}}": max("table_records", "service", "topic") },
        },
        {
          title: "Tables behind",
          unit: "short",
          queries: { "{{service}} {{topic}}": max("table_behind_records", "service", "topic") },
        },
        {
          title: "Versions",
          unit: "short",
          queries: { "{{service}} {{version}}": "count by (service, version) (posthaste_build_info)" },
        },
        {
          title: "CPU of the chosen",
          unit: "cores",
          queries: {
            "{{instance}}": sumRate(
              ours("process_cpu_seconds_total", ',service=~"$service",instance=~"$instance"'),
              "instance",
            ),
          },
        },
        {
          title: "Memory of the chosen",
          unit: "bytes",
          queries: {
            "{{instance}}": max(
              ours("process_resident_memory_bytes", ',service=~"$service",instance=~"$instance"'),
              "instance",
            ),
          },
        },
      ],
    },
  ],
};
