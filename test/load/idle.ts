/**
 * npm run bench:idle -- [--short] [--canary]: the CPU that an installation takes while no event comes, or none but the
 * canary's, as a share of one core for each process. A whole installation with a broker of its own, measured over a
 * minute (20 s in short form) after it has come to rest. Then the services stop, and the broker is measured again: the
 * rest is its own, whoever its clients are; and of both measurements the time of the broker's compilers is told, which
 * end when its code is compiled. Needs Linux, whose `/proc` tells a process's CPU time. Ends with 1 when an aim does
 * not hold.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startInstallation } from "../e2e/installation.ts";
import { processCpuMs, threadsCpuMs } from "./figures/process-cpu.ts";
import { verdict } from "./figures/verdict.ts";

/** Shares of a core. The schema registry is a third party's and has no aim. */
const SERVICES_AIM = 0.03;
const BROKER_AIM = 0.05;

const SERVICES = ["ingest", "router", "delivery", "control"] as const;
/** The Java threads that compile, by the beginning of their names. */
const COMPILERS = /^C[12] Compiler/;
const STOP_MS = 5000;

const short = process.argv.includes("--short");
/** The broker's code is still compiled for a minute after its start. */
const restMs = short ? 20_000 : 60_000;
const measuredMs = short ? 20_000 : 60_000;
const aloneMs = 20_000;

const canary = process.argv.includes("--canary");
const installation = await startInstallation({ brokers: 1, longLived: true, canary });
try {
  console.log(
    `\nIdle: no event${canary ? " but the canary's" : ""} for ${measuredMs / 1000} s, after ${restMs / 1000} s of rest\n`,
  );
  await sleep(restMs);
  const { processes, process: processOf } = installation.system;
  const brokerPid = processOf("kafka-1").pid ?? 0;
  const cpuNow = () => {
    const each = processes.map(({ name, pid }) => [name, pid === undefined ? 0 : processCpuMs(pid)] as const);
    return new Map([...each, ["compilers", threadsCpuMs(brokerPid, COMPILERS)]]);
  };
  /** Shares of a core over `ms`. */
  const measure = async (ms: number): Promise<(name: string) => number> => {
    const before = cpuNow();
    const startedMs = performance.now();
    await sleep(ms);
    const tookMs = performance.now() - startedMs;
    const after = cpuNow();
    return (name) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / tookMs;
  };
  const coresOf = await measure(measuredMs);

  console.log("| process | cores |\n|---|---|");
  for (const { name } of processes) console.log(`| ${name} | ${coresOf(name).toFixed(4)} |`);
  const services = SERVICES.reduce((sum, name) => sum + coresOf(name), 0);
  const broker = coresOf("kafka-1");
  const within = { services: services <= SERVICES_AIM, broker: broker <= BROKER_AIM };
  console.log(`\nthe four services together ${services.toFixed(4)}, aim ${SERVICES_AIM}: ${verdict(within.services)}`);
  console.log(`the broker ${broker.toFixed(4)}, aim ${BROKER_AIM}: ${verdict(within.broker)}`);

  await Promise.all(SERVICES.map((name) => processOf(name).stop(STOP_MS)));
  await sleep(STOP_MS);
  const aloneOf = await measure(aloneMs);
  const reported = (cores: (name: string) => number) =>
    `${cores("kafka-1").toFixed(4)} (its compilers ${cores("compilers").toFixed(4)})`;
  console.log(`the broker with its clients ${reported(coresOf)}, without the four services ${reported(aloneOf)}`);
  if (!within.services || !within.broker) process.exitCode = 1;
} finally {
  await installation.close();
}
