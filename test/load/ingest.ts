/**
 * npm run bench:ingest [-- --short]: what ingest costs beside a bare node:http server, what its acknowledgement takes, and
 * what twice too much load does to it. Ratios in one run, for docs/benchmarks.md. Needs Linux's `/proc`, and wrk.
 */
import { Agent, request } from "node:http";
import kafkaGlobalSetup from "@posthaste/tooling/kafka-global-setup";
import { createIngestBench, HEADERS, type IngestBench, type Server } from "./ingest-bench.ts";
import { type Latency, measureLatency } from "./open-loop.ts";
import { processCpuMs, processRssBytes } from "./process-cpu.ts";
import { median } from "./statistics.ts";
import { missingWrk, runWrk } from "./wrk.ts";

const short = process.argv.includes("--short");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const rounds = short ? 2 : 5;
const seconds = short ? 4 : 10;
const overloadSeconds = short ? 10 : 60;

const CONNECTIONS = 64;
const BATCH = 20;
const RATE = 200;
const KILOBYTE_NOTE = "x".repeat(640);

/** A call as the Node client sends it, of about 1 KB. */
const CALL = {
  type: "track",
  messageId: "node-next-1763695457269-5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4e5f6",
  userId: "user-1234",
  event: "Order Completed",
  timestamp: "2026-11-21T03:24:17.269Z",
  integrations: {},
  context: { library: { name: "@segment/analytics-node", version: "3.1.0" } },
  properties: { revenue: 39.95, currency: "EUR", products: [{ sku: "a-1", quantity: 2 }], note: KILOBYTE_NOTE },
  _metadata: { nodeVersion: "24.21.0" },
};
const SINGLE = JSON.stringify(CALL);
const BATCH_BODY = JSON.stringify({
  batch: Array.from({ length: BATCH }, () => CALL),
  sentAt: "2026-11-21T03:24:17.300Z",
});

const missing = missingWrk();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const stop = await kafkaGlobalSetup();
const bench = await createIngestBench();
try {
  if (only !== "latency" && only !== "overload") await printThroughput(bench);
  if (only !== "throughput" && only !== "overload") await printLatency(bench);
  if (only !== "throughput" && only !== "latency") await printOverload(bench);
} finally {
  await bench.close();
  await stop?.();
}

interface Cost {
  readonly perSecond: number;
  /** CPU time of the server's process a request. */
  readonly cpuUs: number;
}

function measureCost(server: Server, path: string, body: string, forSeconds: number): Cost {
  const before = processCpuMs(server.pid);
  const load = { url: server.url + path, connections: CONNECTIONS, seconds: forSeconds, body, headers: HEADERS };
  const { requests, perSecond, refused, unanswered } = runWrk(load);
  if (refused + unanswered > 0)
    throw new Error(`${refused} refused and ${unanswered} unanswered at ${server.url}${path}`);
  return { perSecond, cpuUs: ((processCpuMs(server.pid) - before) * 1000) / requests };
}

async function printThroughput(setting: IngestBench): Promise<void> {
  const bare = await setting.startBare();
  const ingest = await setting.startIngest();
  console.log(
    `\nOne process, calls of ${SINGLE.length} bytes, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s\n`,
  );
  console.log(`| round | bare /s | µs | single /s | µs | calls in batches of ${BATCH} /s | µs a call |`);
  console.log("|---|---|---|---|---|---|---|");
  const ratios: { single: number; cpu: number; batch: number }[] = [];
  for (const server of [bare, ingest]) measureCost(server, "/v1/track", SINGLE, 2);
  for (let round = 1; round <= rounds; round += 1) {
    const bareCost = measureCost(bare, "/v1/track", SINGLE, seconds);
    const single = measureCost(ingest, "/v1/track", SINGLE, seconds);
    const batch = measureCost(ingest, "/v1/batch", BATCH_BODY, seconds);
    const calls = { perSecond: batch.perSecond * BATCH, cpuUs: batch.cpuUs / BATCH };
    const cells = [bareCost, single, calls].flatMap((cost) => [cost.perSecond.toFixed(0), cost.cpuUs.toFixed(1)]);
    console.log(`| ${[round, ...cells].join(" | ")} |`);
    ratios.push({
      single: single.perSecond / bareCost.perSecond,
      cpu: single.cpuUs / bareCost.cpuUs,
      batch: calls.perSecond / single.perSecond,
    });
  }
  const of = (pick: (ratio: (typeof ratios)[number]) => number) => median(ratios.map(pick)).toFixed(2);
  console.log(
    `\nsingle calls: ${of(({ single }) => single)} of the bare server's rate (to reach: 0.40), ${of(({ cpu }) => cpu)} times its CPU`,
  );
  console.log(`batches: ${of(({ batch }) => batch)} times the calls a second of single calls (to reach: 3.00)`);
  await bare.stop();
  await ingest.stop();
}

async function printLatency(setting: IngestBench): Promise<void> {
  const bare = await setting.startBare();
  const ingest = await setting.startIngest();
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const value = Buffer.from(SINGLE);
  const asks: Record<string, () => Promise<unknown>> = {
    "bare server": () => post(agent, bare.url),
    "produce round trip": () => setting.producer.send([{ topic: setting.names.rejectedCalls, key: "k", value }]),
    ingest: () => post(agent, ingest.url),
  };
  console.log(`\nAcknowledgement at ${RATE} calls a second, ${seconds} s each\n\n| | p50 ms | p99 ms |\n|---|---|---|`);
  const felt = new Map<string, Latency>();
  for (const [name, ask] of Object.entries(asks)) {
    await measureLatency(RATE, 2, ask);
    const latency = await measureLatency(RATE, seconds, ask);
    felt.set(name, latency);
    console.log(`| ${name} | ${latency.p50Ms.toFixed(2)} | ${latency.p99Ms.toFixed(2)} |`);
  }
  const ratio = (pick: (latency: Latency) => number) => {
    const [base, produce, whole] = [...felt.values()].map(pick);
    return ((whole ?? 0) / ((base ?? 0) + (produce ?? 0))).toFixed(2);
  };
  console.log(
    `\ningest: p50 ${ratio(({ p50Ms }) => p50Ms)} times the bare server plus a produce (to reach: under 3), p99 ${ratio(({ p99Ms }) => p99Ms)} times (under 5)`,
  );
  agent.destroy();
  await bare.stop();
  await ingest.stop();
}

function post(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, "content-length": String(Buffer.byteLength(SINGLE)) };
    const sent = request(`${url}/v1/track`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
      );
    });
    sent.once("error", reject);
    sent.end(SINGLE);
  });
}

async function printOverload(setting: IngestBench): Promise<void> {
  const pending = 8 * 1024 * 1024;
  const ingest = await setting.startIngest({ POSTHASTE_INGEST_PENDING_BYTES: String(pending) });
  const before = await setting.eventCount();
  const idleMb = processRssBytes(ingest.pid) / 1e6;
  let highestMb = 0;
  const watch = setInterval(() => {
    highestMb = Math.max(highestMb, processRssBytes(ingest.pid) / 1e6);
  }, 200);
  const load = { url: `${ingest.url}/v1/batch`, connections: 1024, body: BATCH_BODY, headers: HEADERS };
  let requests = 0;
  let refused = 0;
  let unanswered = 0;
  for (let left = overloadSeconds; left > 0; left -= 5) {
    const result = runWrk({ ...load, seconds: Math.min(5, left) });
    highestMb = Math.max(highestMb, processRssBytes(ingest.pid) / 1e6);
    requests += result.requests;
    refused += result.refused;
    unanswered += result.unanswered;
  }
  clearInterval(watch);
  const taken = (requests - refused) * BATCH;
  const accepted = await acceptedCalls(ingest.metricsUrl);
  const written = (await setting.eventCount()) - before;
  console.log(
    `\n${overloadSeconds} s of batches on 1,024 connections, at most ${pending} bytes waiting for the brokers\n`,
  );
  console.log(
    `requests answered ${requests}: 200 ${requests - refused}, 429 or 503 ${refused}; no answer ${unanswered}`,
  );
  console.log(`calls answered 200: ${taken} by wrk's count, ${accepted} by the service's; in the topic: ${written}`);
  console.log(`memory: ${idleMb.toFixed(0)} MB idle, at most ${highestMb.toFixed(0)} MB`);
  console.log(written >= accepted && accepted >= taken ? "every 200 is in the topic" : "CALLS ARE MISSING");
  await ingest.stop();
}

async function acceptedCalls(metricsUrl: string): Promise<number> {
  const page = await (await fetch(metricsUrl)).text();
  return Number(/posthaste_ingest_calls_total\{answer="accepted"[^}]*\} (\d+)/.exec(page)?.[1] ?? 0);
}
