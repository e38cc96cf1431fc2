/**
 * npm run bench:delivery -- [--short] [--only=throughput|isolation|answers|waiting|destinations]: delivery's cost
 * beside the bare loop, the effect of sick destinations and of hostile answers on healthy ones, the cost of a million
 * waiting records and of ten thousand destinations. `--answer=NAME`, which may come more than once, leaves the other
 * hostile answers out. Ratios in one run, for docs/benchmarks.md. Needs Linux, whose
 * `/proc` tells a process's CPU time and memory.
 */
import { setUpForBenchmark } from "@posthaste/tooling/kafka-global-setup";
import { BODY_BYTES } from "./delivery/delivery-bench.ts";
import { HOSTILE_NAMES, isWithinBudget, measureHostile } from "./delivery/hostile-answers.ts";
import { type Felt, measureIsolation, NEIGHBOURS, type Neighbour } from "./delivery/isolation.ts";
import { isolationTable, longestP99Ms, mediansOf } from "./delivery/isolation-table.ts";
import { measureDestinations } from "./delivery/many-destinations.ts";
import { type Cost, measureBareLoop, measureDelivery } from "./delivery/throughput.ts";
import { measureWaiting } from "./delivery/waiting.ts";
import { median } from "./figures/statistics.ts";
import { verdict } from "./figures/verdict.ts";

const PARTS = {
  throughput: printThroughput,
  isolation: printIsolation,
  answers: printAnswers,
  waiting: printWaiting,
  destinations: printDestinations,
} as const;

const MB = 1024 * 1024;
const BARE_REQUESTS = 40_000;

const short = process.argv.includes("--short");
const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice("--only=".length);
const answers = process.argv.flatMap((argument) => argument.match(/^--answer=(.*)/)?.[1] ?? []);
const rounds = short ? 1 : 5;
const count = short ? 100_000 : 300_000;
const chosen = Object.entries(PARTS).filter(([name]) => only === undefined || only === name);
if (chosen.length === 0) throw new Error(`--only takes one of ${Object.keys(PARTS).join(", ")}`);

const stop = await setUpForBenchmark();
try {
  for (const [, print] of chosen) await print();
} finally {
  await stop?.();
}

async function printThroughput(): Promise<void> {
  console.log(`\nThroughput of one delivery process: ${count} records of ${BODY_BYTES} bytes, ${rounds} round(s)\n`);
  console.log("| round | bare loop /s | µs | log off /s | µs | log all /s | µs |");
  console.log("|---|---|---|---|---|---|---|");
  const ratios = { off: [] as Cost[], all: [] as Cost[] };
  for (let round = 1; round <= rounds; round += 1) {
    const bare = measureBareLoop(BARE_REQUESTS);
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
  const options = { rateSeconds: short ? 5 : 10, backlog: short ? 20_000 : 40_000 };
  console.log(`\nIsolation: healthy events beside as many of their neighbours, medians of ${rounds} round(s)\n`);
  const felt = new Map<Neighbour, Felt[]>(NEIGHBOURS.map((neighbour) => [neighbour, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const neighbour of NEIGHBOURS) felt.get(neighbour)?.push(await measureIsolation(neighbour, options));
  }
  const medians = new Map([...felt].map(([neighbour, values]) => [neighbour, mediansOf(values)]));
  console.log(isolationTable(medians).join("\n"));
}

async function printAnswers(): Promise<void> {
  const options = short ? { rounds: 3, seconds: 4 } : { rounds: 7, seconds: 6 };
  console.log(
    `\nHostile answers: a healthy destination at 200 a second, ${options.rounds} turns of ${options.seconds} s`,
  );
  console.log(
    "alone and beside a hostile one at 10 a second: medians, and in brackets the quietest turns, which are judged\n",
  );
  console.log(
    "| answer | alone p50 | p99 ms | beside p50 | p99 ms | times | aim | processor ms | peak MB | requests until its breaker opened | aim |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|---|");
  for (const name of [null, ...HOSTILE_NAMES]) {
    if (answers.length > 0 && !answers.includes(name ?? "200")) continue;
    const { alone, beside, p99Times, peakMb, cpuMs, untilOpen } = await measureHostile(name, options);
    const cells = [
      name ?? "200",
      ...[alone, beside].flatMap((felt) => [
        felt.p50Ms.toFixed(1),
        `${felt.p99Ms.toFixed(1)} (${felt.leastP99Ms.toFixed(1)})`,
      ]),
      `${p99Times.toFixed(1)} (${(beside.leastP99Ms / alone.leastP99Ms).toFixed(1)})`,
      verdict(beside.leastP99Ms <= longestP99Ms(alone.leastP99Ms)),
      cpuMs.toFixed(2),
      peakMb.toFixed(0),
      untilOpen ?? "never",
      name === null || isWithinBudget(name) ? "" : verdict(untilOpen !== null && untilOpen <= 20),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

async function printWaiting(): Promise<void> {
  const options = { records: short ? 100_000 : 1_000_000, perSecond: 10_000 };
  console.log(`\nWaiting: ${options.records} records in one retry topic, due at ${options.perSecond} a second\n`);
  const { received, leftWithin, arrivedMs, ...memory } = await measureWaiting(options);
  console.log(`received ${received} of ${options.records}: ${verdict(received === options.records)}`);
  console.log(
    `memory: idle ${mb(memory.idleBytes)} MB; while all wait +${mb(memory.waitingBytes)}, ` +
      `aim +64: ${verdict(memory.waitingBytes <= 64 * MB)}`,
  );
  console.log(
    `memory: while they leave +${mb(memory.leavingBytes)} MB, as many fresh ones +${mb(memory.freshBytes)}, ` +
      `aim 64 apart: ${verdict(memory.leavingBytes - memory.freshBytes <= 64 * MB)}`,
  );
  console.log(
    `left the topic after the due time: 99 in 100 within ${leftWithin.p99Ms} ms, all within ${leftWithin.allMs} ms, ` +
      `aim 1,000: ${verdict(leftWithin.allMs <= 1000)}`,
  );
  console.log(
    `reached the receiver after the due time, jitter of up to 900 ms included: p50 ${arrivedMs.p50.toFixed(0)} ms, ` +
      `p99 ${arrivedMs.p99.toFixed(0)} ms, most ${arrivedMs.most.toFixed(0)} ms, aim of p99 1,000: ${verdict(arrivedMs.p99 <= 1000)}`,
  );
}

async function printDestinations(): Promise<void> {
  const many = short ? 1000 : 10_000;
  const deliveries = many * 10;
  console.log(`\nDestinations: ${deliveries} deliveries to one, and to ${many} with a host each\n`);
  console.log("| destinations | deliveries /s | known MB | in use MB | connections | after the idle time |");
  console.log("|---|---|---|---|---|---|");
  const used = [];
  for (const destinations of [1, many]) {
    const measured = await measureDestinations({ destinations, deliveries });
    const { perSecond, knownBytes, usedBytes, connections, connectionsAfter } = measured;
    const row = [destinations, perSecond.toFixed(0), mb(knownBytes), mb(usedBytes), connections, connectionsAfter];
    console.log(`| ${row.join(" | ")} |`);
    used.push(measured);
  }
  const [one, all] = used;
  if (one === undefined || all === undefined) return;
  const perDestination = (field: "knownBytes" | "usedBytes") => ((all[field] - one[field]) / many / 1024).toFixed(1);
  console.log(`\na destination: ${perDestination("knownBytes")} KB known, ${perDestination("usedBytes")} KB in use`);
  // The receiver sees the end of one connection after the beginning of the next.
  console.log(`at most 4,096 connections: ${verdict(all.connections <= 4096 * 1.01)}`);
  console.log(`none after the idle time: ${verdict(all.connectionsAfter === 0)}`);
}

function mb(bytes: number): string {
  return (bytes / MB).toFixed(0);
}
