/** Every metric of control. */

import { type CanaryMetrics, createCanaryMetrics } from "@posthaste/canary/metrics";
import { createRequestMetrics, type RequestMetrics } from "@posthaste/http-kit/request-metrics";
import { Counter, Gauge, type Registry } from "prom-client";

export interface ControlMetrics extends RequestMetrics {
  readonly liveStreams: Gauge;
  readonly deliveryLogFailures: Counter;
  readonly replayedDeliveries: Counter;
  readonly doctorFindings: Gauge<"check" | "severity">;
  readonly audienceIdentifies: Counter;
  readonly audienceRecordsDropped: Counter;
  readonly canary: CanaryMetrics;
}

export function createControlMetrics(registry: Registry): ControlMetrics {
  const liveStreams = new Gauge({
    name: "posthaste_control_live_streams",
    help: "Streams of /v1/live that are open at this process.",
    registers: [registry],
  });
  const deliveryLogFailures = new Counter({
    name: "posthaste_control_delivery_log_failures_total",
    help: "How often the delivery log failed and was opened again, as on a full disk; lists and verdicts wait meanwhile.",
    registers: [registry],
  });
  const audienceIdentifies = new Counter({
    name: "posthaste_audience_identifies_total",
    help: "Identifies that were made of changes of audiences and computed traits.",
    registers: [registry],
  });
  const audienceRecordsDropped = new Counter({
    name: "posthaste_audience_records_dropped_total",
    help: "Changes that became no identify, since their audience or computed trait was removed before.",
    registers: [registry],
  });
  const replayedDeliveries = new Counter({
    name: "posthaste_replayed_deliveries_total",
    help: "Dead letters that replays sent again as deliveries.",
    registers: [registry],
  });
  const doctorFindings = new Gauge({
    name: "posthaste_doctor_findings",
    help: "Findings of posthaste doctor, which looks once a minute. warning: also where it could not look.",
    labelNames: ["check", "severity"],
    registers: [registry],
  });
  return {
    ...createRequestMetrics(registry),
    replayedDeliveries,
    doctorFindings,
    liveStreams,
    deliveryLogFailures,
    audienceIdentifies,
    audienceRecordsDropped,
    canary: createCanaryMetrics(registry),
  };
}
