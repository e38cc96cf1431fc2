/** Acknowledged calls a second and their CPU, single and in batches, beside a bare node:http server. */

import { processCpuMs } from "../figures/process-cpu.ts";
import { median } from "../figures/statistics.ts";
import { HEADERS, type IngestBench, type Server } from "./ingest-bench.ts";
import { BATCH, BATCH_BODY, SINGLE_BODY } from "./ingest-calls.ts";
import { runWrk } from "./wrk.ts";

export const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;

interface Cost {
  readonly perSecond: number;
  /** CPU time of the server's process a request. */
  readonly cpuUs: number;
}

/** Prints each round, and the medians of the rounds' ratios. */
export async function printThroughput(bench: IngestBench, rounds: number, seconds: number): Promise<void> {
  const bare = await bench.startBare();
  const ingest = await bench.startIngest();
  console.log(
    `\nOne process, calls of ${SINGLE_BODY.length} bytes, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s\n`,
  );
  console.log(`| round | bare /s | µs | single /s | µs | calls in batches of ${BATCH} /s | µs a call |`);
  console.log("|---|---|---|---|---|---|---|");
  const ratios: { single: number; cpu: number; batch: number }[] = [];
  for (const server of [bare, ingest]) await measureCost(server, "/v1/track", SINGLE_BODY, WARM_UP_SECONDS);
  for (let round = 1; round <= rounds; round += 1) {
    const bareCost = await measureCost(bare, "/v1/track", SINGLE_BODY, seconds);
    const single = await measureCost(ingest, "/v1/track", SINGLE_BODY, seconds);
    const batch = await measureCost(ingest, "/v1/batch", BATCH_BODY, seconds);
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

async function measureCost(server: Server, path: string, body: string, seconds: number): Promise<Cost> {
  const before = processCpuMs(server.pid);
  const load = { url: server.url + path, connections: CONNECTIONS, seconds, body, headers: HEADERS };
  const { requests, perSecond, refused, unanswered } = await runWrk(load);
  if (refused + unanswered > 0)
    throw new Error(`${refused} refused and ${unanswered} unanswered at ${server.url}${path}`);
  return { perSecond, cpuUs: ((processCpuMs(server.pid) - before) * 1000) / requests };
}
