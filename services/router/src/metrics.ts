/** The metrics of the router, without the metrics of its consumer and producers. */
import { UNROUTED_CAUSES, type UnroutedCause } from "@posthaste/core/routing/routing";
import { Counter, type Registry } from "prom-client";

export type RouteOutcome = "routed" | "unreadable" | UnroutedCause;
const ROUTE_OUTCOMES: readonly RouteOutcome[] = ["routed", "unreadable", ...UNROUTED_CAUSES];

export interface RouterMetrics {
  readonly events: Counter<"outcome">;
  readonly deliveries: Counter;
  readonly unroutedDropped: Counter;
}

export function createRouterMetrics(registry: Registry): RouterMetrics {
  const registers = [registry];
  const events = new Counter({
    name: "posthaste_routed_events_total",
    help: "Events that the router read, by what became of them.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ROUTE_OUTCOMES) events.inc({ outcome }, 0);
  return {
    events,
    deliveries: new Counter({
      name: "posthaste_deliveries_created_total",
      help: "Deliveries that the router wrote: one for each event and destination.",
      registers,
    }),
    unroutedDropped: new Counter({
      name: "posthaste_unrouted_dropped_total",
      help: "Events without a delivery that were not written to the unrouted topic, since too many waited for the brokers.",
      registers,
    }),
  };
}
