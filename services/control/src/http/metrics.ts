/** Every metric of control. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { Route } from "./route.ts";

/** How a request ended: `done`; `refused`, for the caller to correct; `failed`, through a fault of ours. */
const ANSWERS = ["done", "refused", "failed"] as const;
export type RequestEnd = (typeof ANSWERS)[number];

export interface ControlMetrics {
  readonly requests: Counter<"operation" | "answer">;
  readonly failures: Counter;
  readonly liveStreams: Gauge;
  readonly deliveryLogFailures: Counter;
  readonly audienceIdentifies: Counter;
  readonly audienceRecordsDropped: Counter;
}

export function createControlMetrics(registry: Registry): ControlMetrics {
  const requests = new Counter({
    name: "posthaste_control_requests_total",
    help: "Requests to the control API by operation and how they ended: done, refused (4xx), failed (5xx).",
    labelNames: ["operation", "answer"] as const,
    registers: [registry],
  });
  const failures = new Counter({
    name: "posthaste_control_failures_total",
    help: "Requests that ended with an unexpected failure (500), of whatever path; each is logged as request_failed with its id.",
    registers: [registry],
  });
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
  return { requests, failures, liveStreams, deliveryLogFailures, audienceIdentifies, audienceRecordsDropped };
}

/** Starts the counter of every operation at 0, so that a rate includes the first request. */
export function startRequestCounts({ requests }: ControlMetrics, routes: readonly Route[]): void {
  for (const { operation } of routes) for (const answer of ANSWERS) requests.inc({ operation, answer }, 0);
}

export function requestEnd(status: number): RequestEnd {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}
