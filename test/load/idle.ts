/**
 * npm run bench:idle -- [--short]: the CPU that an installation takes while no event comes, as a share of one core for
 * each process. A whole installation with a broker of its own, measured over a minute (20 s in short form) after it has
 * come to rest. Needs Linux, whose `/proc` tells a process's CPU time. Ends with 1 when an aim does not hold.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startInstallation } from "../e2e/installation.ts";
import { processCpuMs } from "./figures/process-cpu.ts";
import { verdict } from "./figures/verdict.ts";

/** Shares of a core. The schema registry is a third party's and has no aim. */
const SERVICES_AIM = 0.03;
const BROKER_AIM = 0.05;

const short = process.argv.includes("--short");
/** The broker's code is still compiled for a minute after its start. */
const restMs = short ? 20_000 : 60_000;
const measuredMs = short ? 20_000 : 60_000;

const installation = await startInstallation({ brokers: 1, longLived: true });
try {
  console.log(`\nIdle: no event for ${measuredMs / 1000} s, after ${restMs / 1000} s of rest\n`);
  await sleep(restMs);
  const { processes } = installation.system;
  const cpuNow = () => new Map(processes.map(({ name, pid }) => [name, pid === undefined ? 0 : processCpuMs(pid)]));
  const before = cpuNow();
  const startedMs = performance.now();
  await sleep(measuredMs);
  const tookMs = performance.now() - startedMs;
  const after = cpuNow();
  const coresOf = (name: string) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / tookMs;

  console.log("| process | cores |\n|---|---|");
  for (const { name } of processes) console.log(`| ${name} | ${coresOf(name).toFixed(4)} |`);
  const services = ["ingest", "router", "delivery", "control"].reduce((sum, name) => sum + coresOf(name), 0);
  const broker = coresOf("kafka-1");
  const within = { services: services <= SERVICES_AIM, broker: broker <= BROKER_AIM };
  console.log(`\nthe four services together ${services.toFixed(4)}, aim ${SERVICES_AIM}: ${verdict(within.services)}`);
  console.log(`the broker ${broker.toFixed(4)}, aim ${BROKER_AIM}: ${verdict(within.broker)}`);
  if (!within.services || !within.broker) process.exitCode = 1;
} finally {
  await installation.close();
}
