/** The metrics of requests. */
import { Counter, type Registry } from "prom-client";
import type { Route } from "./route.ts";

/** How a request ended: `done`; `refused`, for the caller to correct; `failed`, through a fault of ours. */
const ANSWERS = ["done", "refused", "failed"] as const;
export type RequestEnd = (typeof ANSWERS)[number];

export interface RequestMetrics {
  readonly requests: Counter<"operation" | "answer">;
  readonly failures: Counter;
}

export function createRequestMetrics(registry: Registry): RequestMetrics {
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
  return { requests, failures };
}

/** Starts the counter of every operation at 0, so that a rate includes the first request. */
export function startRequestCounts({ requests }: RequestMetrics, routes: readonly Route[]): void {
  for (const { operation } of routes) for (const answer of ANSWERS) requests.inc({ operation, answer }, 0);
}

export function requestEnd(status: number): RequestEnd {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}
