/** One destination beside all others. */
import { type DashboardPlan, max, quantile, sum, sumRate } from "./panels.ts";

const OF_D = 'destination="$d"';

export const DESTINATION: DashboardPlan = {
  uid: "posthaste-destination",
  title: "Posthaste: one destination",
  about: "One destination beside all others; those beyond the cap share the value other.",
  variables: { d: "label_values(posthaste_destination_deliveries_total, destination)" },
  rows: [
    {
      title: "$d",
      panels: [
        {
          title: "Attempts by outcome",
          unit: "reqps",
          queries: { "{{outcome}}": sumRate(`destination_deliveries_total{${OF_D}}`, "outcome") },
        },
        {
          title: "Its answers, p99",
          unit: "s",
          queries: { p99: quantile(0.99, `destination_request_seconds{${OF_D}}`) },
        },
        {
          title: "Success",
          unit: "percentunit",
          queries: {
            delivered: `${sumRate(`destination_deliveries_total{${OF_D},outcome="delivered"}`)} / ${sumRate(`destination_deliveries_total{${OF_D}}`)}`,
          },
        },
        {
          title: "Requests in flight",
          unit: "short",
          queries: { "in flight": sum(`destination_in_flight{${OF_D}}`), limit: sum(`destination_limit{${OF_D}}`) },
        },
        {
          title: "Deliveries that wait",
          unit: "short",
          queries: { waiting: sum(`destination_waiting_records{${OF_D}}`) },
        },
        { title: "Breaker open", unit: "bool_yes_no", queries: { open: max(`destination_breaker_open{${OF_D}}`) } },
      ],
    },
    {
      title: "Is it only this one?",
      panels: [
        {
          title: "Answers of all others, p99",
          unit: "s",
          queries: { p99: quantile(0.99, 'destination_request_seconds{destination!="$d"}') },
        },
        {
          title: "Worst ten",
          unit: "reqps",
          queries: {
            "{{destination}}": `topk(10, ${sumRate('destination_deliveries_total{outcome!="delivered"}', "destination")})`,
          },
        },
        {
          title: "Destinations without series of their own",
          unit: "short",
          queries: { other: max("destination_series_other") },
        },
      ],
    },
  ],
};
