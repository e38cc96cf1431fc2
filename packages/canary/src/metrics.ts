/** The metrics of the canary. */
import { Counter, Histogram, type Registry } from "prom-client";

export interface CanaryMetrics {
  readonly sent: Counter;
  readonly received: Counter;
  readonly late: Counter;
  readonly lost: Counter;
  readonly roundTrip: Histogram;
}

/** 30 s is the objective of first attempts, and an event is late after 60 s. */
const BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createCanaryMetrics(registry: Registry): CanaryMetrics {
  const counter = (name: string, help: string) =>
    new Counter({ name: `posthaste_canary_${name}_total`, help, registers: [registry] });
  return {
    sent: counter("sent", "Canary events that ingest answered with 200."),
    received: counter("received", "Canary events that came back to the process that sent them."),
    late: counter("late", "Canary events that were not back a minute after ingest's answer."),
    lost: counter("lost", "Canary events that were not back five minutes after ingest's answer."),
    roundTrip: new Histogram({
      name: "posthaste_canary_round_trip_seconds",
      help: "From the call to ingest until the event is back, of canary events.",
      buckets: BOUNDS_S,
      registers: [registry],
    }),
  };
}
