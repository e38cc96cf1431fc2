/**
 * Processor time of an event's three spans with their way to a collector in another process, and of the check that
 * traces are off: `node_modules/.bin/node packages/runtime/bench/traces.ts [events]`.
 */
import { fork } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { traceSettings } from "../src/traces/trace-settings.ts";
import { openTraces, type Traces } from "../src/traces/traces.ts";

const EVENTS = Number(process.argv[2] ?? 20_000);
const ROUNDS = 5;
/** The events between two pauses, in which the spans are sent as they are in a service. */
const BURST = 50;
const PAUSE_MS = 10;

if (process.send) serve();
else await measure();

/** The collector: it reads and answers. */
function serve(): void {
  const server = createServer((request, response) => request.resume().on("end", () => response.end()));
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

async function measure(): Promise<void> {
  const collector = fork(new URL(import.meta.url));
  const port = await new Promise((resolve) => collector.once("message", resolve));
  process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
  let warnings = 0;
  const log = { warn: () => (warnings += 1) };
  const settings = traceSettings.parse({});
  const traces = openTraces({ service: "bench", version: "0", settings, log, closeMs: 60_000 });
  const sampledOut = openTraces({
    ...{ service: "bench", version: "0", log },
    settings: { ...settings, OTEL_TRACES_SAMPLER: "always_off" },
  });
  const on = await medianOf(() => cost(traces));
  const out = await medianOf(() => cost(sampledOut));
  const off = await medianOf(() => cost(undefined));
  await traces.close();
  await sampledOut.close();
  collector.disconnect();
  const us = (value: number) => `${value.toFixed(3)} µs`;
  process.stdout.write(
    `${ROUNDS} rounds of ${EVENTS} events, medians: on ${us(on)}, not sampled ${us(out)}, off ${us(off)}\n`,
  );
  if (warnings > 0)
    process.stdout.write(`${warnings} warnings: spans were dropped, so that on is cheaper than it should be\n`);
}

async function medianOf(round: () => Promise<number>): Promise<number> {
  const rounds: number[] = [];
  for (let count = 0; count < ROUNDS; count += 1) rounds.push(await round());
  return rounds.sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
}

/** Microseconds of the processor an event, with its share of the pauses. */
async function cost(traces: Traces | undefined): Promise<number> {
  const before = process.cpuUsage();
  for (let number = 0; number < EVENTS; number += 1) {
    if (traces !== undefined) trace(traces, number);
    if (number % BURST === 0) await setTimeout(PAUSE_MS);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / EVENTS;
}

function trace(traces: Traces, number: number): void {
  const names = { "posthaste.message_id": `message-${number}`, "posthaste.source_id": "src_4k2v8m1n0p3q5r7s" };
  const call = traces.start({ name: "ingest", kind: "server", startedAtMs: Date.now(), attributes: { ...names } });
  const route = traces.start({ name: "route", kind: "consumer", parent: call.traceparent, attributes: names });
  const { traceparent } = route;
  const destination = { ...names, "posthaste.destination_id": "dst_4k2v8m1n0p3q5r7s", "posthaste.attempt": 1 };
  const attempt = traces.start({
    ...{ name: "attempt", kind: "client", parent: traceparent, link: traceparent, attributes: destination },
  });
  attempt.end({ "posthaste.outcome": "delivered", "posthaste.requests": 1, "http.response.status_code": 200 });
  route.end({ "posthaste.outcome": "routed", "posthaste.deliveries": 1 });
  call.end({ "posthaste.answer": "accepted" });
}
