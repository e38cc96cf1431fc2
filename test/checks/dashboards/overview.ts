/** Whether events come in, go out in time, and what stands against it. */
import { type DashboardPlan, max, quantile, quantiles, sum, sumIncrease, sumRate } from "./panels.ts";

export const OVERVIEW: DashboardPlan = {
  uid: "posthaste-overview",
  title: "Posthaste: overview",
  about: "Whether events come in, go out in time, and what stands against it.",
  variables: {},
  rows: [
    {
      title: "Now",
      panels: [
        {
          title: "Delivered",
          unit: "reqps",
          kind: "number",
          queries: { delivered: sumRate('deliveries_total{outcome="delivered"}') },
        },
        {
          title: "Accepted calls",
          unit: "reqps",
          kind: "number",
          queries: { accepted: sumRate('ingest_calls_total{answer="accepted"}') },
        },
        {
          title: "Oldest unfinished",
          unit: "s",
          kind: "number",
          queries: { lag: max('consumer_lag_seconds{topic!~".*retry.*"}') },
        },
        {
          title: "Open breakers",
          unit: "short",
          kind: "number",
          queries: { open: sum('breaker_state{state="open"}') },
        },
        {
          title: "Budget left: in time",
          unit: "percentunit",
          kind: "number",
          queries: { left: "1 - posthaste:late:ratio_rate3d / 0.001" },
        },
        {
          title: "Budget left: available",
          unit: "percentunit",
          kind: "number",
          queries: { left: "1 - posthaste:ingest_bad:ratio_rate3d / 0.001" },
        },
        {
          title: "Canaries lost, 30 days",
          unit: "short",
          kind: "number",
          queries: { lost: "posthaste:canary_lost:increase30d" },
        },
      ],
    },
    {
      title: "In time",
      panels: [
        { title: "Call to the first 2xx", unit: "s", queries: quantiles("end_to_end_latency_seconds") },
        {
          title: "First attempts in time",
          unit: "percentunit",
          queries: { "in time": "1 - posthaste:late:ratio_rate5m" },
        },
        { title: "Canary: there and back", unit: "s", queries: quantiles("canary_round_trip_seconds") },
        {
          title: "Canaries late, in five minutes",
          unit: "short",
          queries: { late: sumIncrease("canary_late_total"), lost: sumIncrease("canary_lost_total") },
        },
        {
          title: "Ingest answers within 250 ms",
          unit: "percentunit",
          queries: {
            quick: `${sumRate('ingest_acknowledge_seconds_bucket{le="0.25"}')} / ${sumRate("ingest_acknowledge_seconds_count")}`,
          },
        },
      ],
    },
    {
      title: "Flow",
      panels: [
        { title: "Calls by answer", unit: "reqps", queries: { "{{answer}}": sumRate("ingest_calls_total", "answer") } },
        {
          title: "Rejected calls by reason",
          unit: "reqps",
          queries: { "{{code}}": sumRate("ingest_rejected_calls_total", "code") },
        },
        {
          title: "Events by what became of them",
          unit: "reqps",
          queries: { "{{outcome}}": sumRate("routed_events_total", "outcome") },
        },
        {
          title: "Requests by outcome",
          unit: "reqps",
          queries: { "{{outcome}} {{error}}": sumRate("attempts_total", "outcome", "error") },
        },
        { title: "Deferred by cause", unit: "reqps", queries: { "{{cause}}": sumRate("deferred_total", "cause") } },
        {
          title: "Requests in flight",
          unit: "short",
          queries: { "in flight": sum("requests_in_flight"), slots: sum("request_slots") },
        },
      ],
    },
    {
      title: "Waiting and given up",
      panels: [
        { title: "Records in retry topics", unit: "short", queries: { "{{topic}}": sum("waiting_records", "topic") } },
        {
          title: "Retries: how late, p99",
          unit: "s",
          queries: { "{{topic}}": quantile(0.99, "retry_lateness_seconds", "topic") },
        },
        {
          title: "Retries: due and not finished",
          unit: "s",
          queries: { "{{topic}}": max("retry_overdue_seconds", "topic") },
        },
        {
          title: "Dead letters an hour",
          unit: "short",
          queries: { "{{reason}}": "sum by (reason) (increase(posthaste_dead_letters_total[1h]))" },
        },
        {
          title: "Conservation over the time shown",
          unit: "short",
          queries: {
            "made and not ended": [
              "sum(increase(posthaste_deliveries_created_total[$__range]))",
              "+ sum(increase(posthaste_replayed_deliveries_total[$__range]))",
              '- sum(increase(posthaste_deliveries_total{outcome="delivered"}[$__range]))',
              "- sum(increase(posthaste_dead_letters_total[$__range]))",
              '- sum(increase(posthaste_repeats_dropped_total{kind="origin"}[$__range]))',
            ].join(" "),
            waiting: 'sum(posthaste_waiting_records) + sum(posthaste_unfinished_records{topic=~".*[.]deliveries"})',
          },
        },
      ],
    },
  ],
};
