/** The metrics of ingest; names and units are public. */
import { CALL_REFUSALS } from "@posthaste/core/call/call";
import { LatencyHistogram } from "@posthaste/runtime/latency-histogram";
import { Counter, Gauge, type Registry } from "prom-client";
import { CALL_ANSWERS, type CallAnswer } from "./answer/answer.ts";

export interface IngestMetrics {
  /**
   * How many calls had each answer so far. They are plain numbers, which the metrics page is made from: counting in
   * prom-client costs more for each call.
   */
  readonly calls: Record<CallAnswer, number>;
  readonly rejectedCalls: Counter<"code">;
  readonly acknowledgeSeconds: LatencyHistogram;
}

/** Creates the metrics once for a process's registry, with every known label at 0. */
export function createIngestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry];
  const calls = Object.fromEntries(CALL_ANSWERS.map((answer) => [answer, 0])) as Record<CallAnswer, number>;
  new Counter({
    name: "posthaste_ingest_calls_total",
    help: "Calls by what was answered; a request that was refused before its calls were counted is one call. internal: a 500.",
    labelNames: ["answer"],
    registers,
    collect() {
      this.reset();
      for (const answer of CALL_ANSWERS) this.inc({ answer }, calls[answer]);
    },
  });
  const rejectedCalls = new Counter({
    name: "posthaste_ingest_rejected_calls_total",
    help: "Calls that were not taken, single ones and those of batches, by reason.",
    labelNames: ["code"],
    registers,
  });
  const acknowledgeSeconds = new LatencyHistogram({
    name: "posthaste_ingest_acknowledge_seconds",
    help: "Time from handing a request's events to the producer to the acknowledgement by all in-sync replicas.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registry,
  });
  for (const code of CALL_REFUSALS) rejectedCalls.inc({ code }, 0);
  return { calls, rejectedCalls, acknowledgeSeconds };
}

/** Adds the gauge of the bytes that bodies hold, which is read when the metrics are. */
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

/** Counts calls by their answer. */
export function countCalls(metrics: IngestMetrics, answer: CallAnswer, calls: number): void {
  metrics.calls[answer] += calls;
}
