/**
 * npm run bench:read-model -- [--short] [--entries=N]: control's read model with 1,000 destinations, 1,000,000 attempts
 * and 1,000,000 dead letters (20,000 each in short form, or as many as asked for). Prints the cost of taking an attempt
 * in, how long each list takes, a verdict, a plan's count, and control's peak of memory. Needs Linux, whose `/proc`
 * tells a process's time and memory. Ends with 1 when an aim does not hold.
 */
import { type Installation, startInstallation } from "../e2e/installation.ts";
import { Figures } from "./figures/figures.ts";
import { processCpuMs, processPeakBytes, processRssBytes } from "./figures/process-cpu.ts";
import { quantile } from "./figures/statistics.ts";
import { LOGGED_EVENT, LOGGED_USERS, readTo, writeLog } from "./setup/read-model-log.ts";

const DESTINATIONS = 1000;
const DESTINATION_IDS = Array.from({ length: DESTINATIONS }, (_, n) => `dst_${String(n).padStart(16, "0")}`);
const asked = process.argv.find((argument) => argument.startsWith("--entries="))?.slice("--entries=".length);
const short = process.argv.includes("--short");
const ENTRIES = Number(asked ?? (short ? 20_000 : 1_000_000));
/** Of half a core, attempts a second. */
const INTAKE_AIM = 5000;
const LIST_AIM_MS = 100;
const ANSWER_AIM_MS = 1000;
const MEMORY_AIM_MIB = 400;
const CALLS = 20;

/** The nth entry's. */
const destinationOf = (n: number): string => DESTINATION_IDS[n % DESTINATIONS] ?? "";

/** By their question, each for one of many destinations. */
const LISTS: readonly (readonly [string, (n: number) => string])[] = [
  ["attempts", () => "/v1/deliveries"],
  ["attempts of a destination", (n) => `/v1/deliveries?destinationId=${destinationOf(n)}`],
  ["attempts that failed", () => "/v1/deliveries?outcome=retryable"],
  ["attempts of a user that there is not", () => "/v1/deliveries?userId=nobody"],
  ["deliveries as they stand", () => "/v1/deliveries/latest"],
  [
    "those of a destination that wait",
    (n) => `/v1/deliveries/latest?state=waiting_retry&destinationId=${destinationOf(n)}`,
  ],
  ["those of one message", (n) => `/v1/deliveries/latest?messageId=attempt-${n}`],
  ["those of a user that there is not", () => "/v1/deliveries/latest?userId=nobody"],
  ["dead letters", () => "/v1/dead-letters"],
  ["dead letters of a destination", (n) => `/v1/dead-letters?destinationId=${destinationOf(n)}`],
  ["dead letters of a user", (n) => `/v1/dead-letters?userId=user-${n % 500}`],
  ["counts of dead letters", () => "/v1/dead-letters/counts"],
  ["groups of dead letters of a destination", (n) => `/v1/dead-letters/groups?destinationId=${destinationOf(n)}`],
];

/** Writes entries and waits until control has read them; returns the processor time of control for each, µs. */
async function takeIn(installation: Installation, kind: "attempts" | "letters", list: string): Promise<number> {
  const pid = installation.system.process("control").pid ?? 0;
  const beforeMs = processCpuMs(pid);
  const startedMs = performance.now();
  await writeLog(installation, { kind, count: ENTRIES, destinationIds: DESTINATION_IDS });
  const writtenS = (performance.now() - startedMs) / 1000;
  await readTo(installation, list, Date.now());
  const seconds = (performance.now() - startedMs) / 1000;
  const micros = ((processCpuMs(pid) - beforeMs) * 1000) / ENTRIES;
  console.log(`  ${ENTRIES} ${kind}: written in ${writtenS.toFixed(0)} s, read after ${seconds.toFixed(0)} s`);
  return micros;
}

async function timed({ control }: Installation, pathOf: (n: number) => string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const path = pathOf(Math.floor((n * ENTRIES) / CALLS));
    const startedMs = performance.now();
    await control.call("GET", path);
    times.push(performance.now() - startedMs);
  }
  return times;
}

async function tellLists(installation: Installation, figures: Figures): Promise<void> {
  for (const [name, pathOf] of LISTS) {
    const value = quantile(await timed(installation, pathOf), 0.95);
    figures.push({ name: `${name}, p95`, value, unit: "ms", isWithin: value < LIST_AIM_MS });
  }
  const value = quantile(await timed(installation, (n) => `/v1/events/attempt-${n}`), 0.95);
  figures.push({ name: "a verdict, p95", value, unit: "ms", isWithin: value < ANSWER_AIM_MS });
}

async function tellPlans({ control }: Installation, figures: Figures): Promise<void> {
  const plans = [
    { name: "a plan of one destination", filter: { destinationId: destinationOf(1) }, of: DESTINATIONS },
    { name: "a plan of all", filter: {}, of: 1 },
    { name: "a plan of an event", filter: { event: LOGGED_EVENT }, of: 1 },
    { name: "a plan of a user", filter: { userId: "user-7" }, of: LOGGED_USERS },
  ];
  for (const { name, filter, of } of plans) {
    const startedMs = performance.now();
    const answer = await control.call("POST", "/v1/replays", { ...filter, dryRun: true });
    const value = performance.now() - startedMs;
    const { matched, leftOut } = answer as { matched: number; leftOut: { destinationRemoved: number } };
    // Their destinations are no more, which a plan says too.
    const counted = matched + leftOut.destinationRemoved;
    const isWithin = value < ANSWER_AIM_MS && counted === Math.floor(ENTRIES / of);
    figures.push({ name: `${name} (${counted} counted)`, value, unit: "ms", isWithin });
  }
}

async function main(): Promise<boolean> {
  const installation = await startInstallation(short ? {} : { longLived: true, brokers: 1 });
  try {
    const pid = installation.system.process("control").pid ?? 0;
    const idle = processRssBytes(pid) / 1024 / 1024;
    const attemptMicros = await takeIn(installation, "attempts", "/v1/deliveries");
    const deadLetterMicros = await takeIn(installation, "letters", "/v1/dead-letters");
    const rate = 500_000 / attemptMicros;
    const figures = new Figures();
    figures.push({ name: "an attempt taken in", value: attemptMicros, unit: "µs", isWithin: true });
    figures.push({ name: "attempts a second on half a core", value: rate, unit: "", isWithin: rate >= INTAKE_AIM });
    figures.push({ name: "a dead letter taken in", value: deadLetterMicros, unit: "µs", isWithin: true });
    await tellLists(installation, figures);
    await tellPlans(installation, figures);
    const peak = processPeakBytes(pid) / 1024 / 1024;
    const name = `control's peak of memory (${idle.toFixed(0)} at its start)`;
    figures.push({ name, value: peak, unit: "MiB", isWithin: peak < MEMORY_AIM_MIB });
    return figures.isWithin;
  } finally {
    await installation.close();
  }
}

if (!(await main())) process.exitCode = 1;
