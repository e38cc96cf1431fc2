/** The metrics of ingest; names and units are public. */
import { CALL_REFUSALS } from "@posthaste/core/call/call";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { CALL_ANSWERS, type CallAnswer } from "./answer/answer.ts";

export interface IngestMetrics {
  readonly calls: Counter<"answer">;
  readonly rejectedCalls: Counter<"code">;
  readonly acknowledgeSeconds: Histogram;
}

/** Creates them once for a process's registry, every known label at 0. */
export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: "posthaste_ingest_calls_total",
    help: "Calls by what was answered; a request that was refused before its calls were counted is one call.",
    labelNames: ["answer"],
    registers,
  });
  const rejectedCalls = new Counter({
    name: "posthaste_ingest_rejected_calls_total",
    help: "Calls that were not taken, single ones and those of batches, by reason.",
    labelNames: ["code"],
    registers,
  });
  const acknowledgeSeconds = new Histogram({
    name: "posthaste_ingest_acknowledge_seconds",
    help: "Time from handing a request's events to the producer to the acknowledgement by all in-sync replicas.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  for (const answer of CALL_ANSWERS) calls.inc({ answer }, 0);
  for (const code of CALL_REFUSALS) rejectedCalls.inc({ code }, 0);
  return { calls, rejectedCalls, acknowledgeSeconds };
}

/** Adds the gauge of what is held of bodies, read when the metrics are. */
export function gaugeBodyBytes(registry: Registry, bodies: { readonly heldBytes: number }): void {
  new Gauge({
    name: "posthaste_ingest_body_bytes",
    help: "Bytes held by the bodies of requests that are being read or answered.",
    registers: [registry],
    collect() {
      this.set(bodies.heldBytes);
    },
  });
}

/** A plain function, so that what counts answers needs no knowledge of labels. */
export function countCalls(metrics: IngestMetrics, answer: CallAnswer, calls: number): void {
  metrics.calls.inc({ answer }, calls);
}
