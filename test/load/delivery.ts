/**
 * npm run bench:delivery [-- --short]: what delivery costs beside the bare loop, and what a healthy destination feels of a
 * sick one. Ratios in one run, for docs/benchmarks.md. Needs Linux, whose `/proc` tells a process's CPU time.
 */
import kafkaGlobalSetup from "@posthaste/tooling/kafka-global-setup";
import { BODY_BYTES } from "./delivery-bench.ts";
import { type Felt, measureIsolation, NEIGHBOURS } from "./isolation.ts";
import { median } from "./statistics.ts";
import { type Cost, measureBareLoop, measureDelivery } from "./throughput.ts";

const short = process.argv.includes("--short");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const rounds = short ? 1 : 5;
const count = short ? 30_000 : 100_000;

const stop = await kafkaGlobalSetup();
try {
  if (only !== "isolation") await printThroughput();
  if (only !== "throughput") await printIsolation();
} finally {
  await stop?.();
}

async function printThroughput(): Promise<void> {
  console.log(`\nThroughput of one delivery process: ${count} records of ${BODY_BYTES} bytes, ${rounds} round(s)\n`);
  console.log("| round | bare loop /s | µs | log off /s | µs | log all /s | µs |");
  console.log("|---|---|---|---|---|---|---|");
  const ratios = { off: [] as Cost[], all: [] as Cost[] };
  for (let round = 1; round <= rounds; round += 1) {
    const bare = measureBareLoop(Math.min(count, 40_000));
    const off = await measureDelivery(count, "off");
    const all = await measureDelivery(count, "all");
    ratios.off.push(ratioOf(off, bare));
    ratios.all.push(ratioOf(all, bare));
    console.log(`| ${[round, ...[bare, off, all].flatMap(cells)].join(" | ")} |`);
  }
  for (const log of ["off", "all"] as const) {
    const speed = median(ratios[log].map(({ perSecond }) => perSecond)).toFixed(2);
    const cpu = median(ratios[log].map(({ cpuUs }) => cpuUs)).toFixed(2);
    console.log(`\nattempt log ${log}: ${speed} of the bare loop's rate, ${cpu} times its CPU (medians)`);
  }
}

function ratioOf(cost: Cost, bare: Cost): Cost {
  return { perSecond: cost.perSecond / bare.perSecond, cpuUs: cost.cpuUs / bare.cpuUs };
}

function cells({ perSecond, cpuUs }: Cost): string[] {
  return [perSecond.toFixed(0), cpuUs.toFixed(1)];
}

async function printIsolation(): Promise<void> {
  const options = { latencySeconds: short ? 5 : 15, backlog: short ? 15_000 : 40_000 };
  console.log(`\nIsolation: 100 healthy events a second beside as many sick ones, medians of ${rounds} round(s)\n`);
  console.log("| the other half | p50 ms | p99 ms | healthy /s over a backlog | of alone |");
  console.log("|---|---|---|---|---|");
  const felt = new Map<string, Felt[]>(NEIGHBOURS.map((neighbour) => [neighbour, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const neighbour of NEIGHBOURS) felt.get(neighbour)?.push(await measureIsolation(neighbour, options));
  }
  const alone = median((felt.get("alone") ?? []).map(({ perSecond }) => perSecond));
  for (const [neighbour, values] of felt) {
    const p50 = median(values.map(({ p50Ms }) => p50Ms)).toFixed(1);
    const p99 = median(values.map(({ p99Ms }) => p99Ms)).toFixed(1);
    const perSecond = median(values.map((value) => value.perSecond));
    console.log(`| ${neighbour} | ${p50} | ${p99} | ${perSecond.toFixed(0)} | ${(perSecond / alone).toFixed(2)} |`);
  }
}
