/**
 * The effect of an attack on an honest source: 200 calls a second of its own beside each attack at a megabyte a second,
 * and the memory of the process. Each attack has a fresh process, in which the honest source is alone first.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { constants, setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { processRssBytes, withWaits } from "../figures/process-cpu.ts";
import { verdict } from "../figures/verdict.ts";
import { type Latency, measureLatency } from "../setup/open-loop.ts";
import type { AttackReport } from "./attacker-process.ts";
import { ATTACKS } from "./attacks.ts";
import { HEADERS, type IngestBench, type IngestServer } from "./ingest-bench.ts";
import { SINGLE_BODY } from "./ingest-calls.ts";

const ATTACKER = fileURLToPath(new URL("./attacker-process.ts", import.meta.url));
/** Calls a second of the honest source. */
const RATE = 200;
const WARM_UP_SECONDS = 3;
/** From an attack's first byte to when it is at its rate. */
const RISE_MS = 1_000;
const TIMEOUT_MS = 10_000;
const SAMPLE_MS = 100;
const AIM_P99_MS = 50;
const AIM_MB = 512;

interface Honest extends Latency {
  /** Answers by status, and "none" where none came in 10 s. */
  readonly statuses: ReadonlyMap<string, number>;
}

/** Prints a row for each attack whose number begins the name, all of them by default. */
export async function printAttacks(bench: IngestBench, seconds: number, only = ""): Promise<void> {
  console.log(
    `\n${RATE} honest calls a second, alone and beside each attack at 1 MB/s, ${seconds} s each, p50 and p99 in ms\n`,
  );
  console.log(
    `| attack | alone p50 | p99 | attacked p50 | p99 | times | under ${AIM_P99_MS} | honest answers | peak MB | under ${AIM_MB} | attack KB/s | its answers | gateway without a core ms/s | caller |`,
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
  for (const [index, { name }] of ATTACKS.entries()) {
    if (name.startsWith(only)) console.log(await rowOf(bench, index, seconds));
  }
}

async function rowOf(bench: IngestBench, index: number, seconds: number): Promise<string> {
  // The limits of a source are those that an operator gets who says nothing.
  const ingest = await bench.startIngest({
    POSTHASTE_SOURCE_CALLS_PER_SECOND: undefined,
    POSTHASTE_SOURCE_BYTES_PER_SECOND: undefined,
  });
  await measureHonest(ingest, WARM_UP_SECONDS);
  const alone = await measureHonest(ingest, seconds);
  const memory = watchMemory(ingest);
  const attack = startAttack(ingest, index);
  await pause(RISE_MS);
  const { result: attacked, waits } = await withWaits([ingest.pid], seconds, () => measureHonest(ingest, seconds));
  const { bytes, statuses } = await attack.stop();
  const peakMb = await memory.stop();
  await ingest.stop();
  const honest = [...attacked.statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
  const answers = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  const isServed = attacked.p99Ms < AIM_P99_MS && attacked.statuses.get("200") === RATE * seconds;
  const cells = [
    ATTACKS[index]?.name,
    alone.p50Ms.toFixed(1),
    alone.p99Ms.toFixed(1),
    attacked.p50Ms.toFixed(1),
    attacked.p99Ms.toFixed(1),
    (attacked.p99Ms / alone.p99Ms).toFixed(1),
    verdict(isServed),
    honest,
    peakMb.toFixed(0),
    verdict(peakMb < AIM_MB),
    (bytes / 1000 / (seconds + RISE_MS / 1000)).toFixed(0),
    answers.join(", "),
    ...waits,
  ];
  return `| ${cells.join(" | ")} |`;
}

async function measureHonest({ url }: IngestServer, seconds: number): Promise<Honest> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const statuses = new Map<string, number>();
  const latency = await measureLatency(RATE, seconds, async () => {
    const status = String(await post(agent, url).catch(() => "none"));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  agent.destroy();
  return { ...latency, statuses };
}

function post(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, "content-length": String(Buffer.byteLength(SINGLE_BODY)) };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const sent = request(`${url}/v1/track`, { method: "POST", agent, headers, signal }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(SINGLE_BODY);
  });
}

function startAttack({ url }: IngestServer, index: number) {
  const child = spawn(process.execPath, [ATTACKER, url, String(index)], { stdio: ["pipe", "pipe", "inherit"] });
  // No attacker runs on the gateway's own cores, so this one gives way to the gateway.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const said = text(child.stdout);
  const exited = once(child, "exit");
  return {
    stop: async (): Promise<AttackReport> => {
      child.stdin.end();
      await exited;
      return JSON.parse(await said) as AttackReport;
    },
  };
}

/** The highest resident memory until it is stopped, in MB, also of a process that has ended meanwhile. */
function watchMemory({ pid }: IngestServer) {
  let peakMb = 0;
  const look = () => {
    try {
      peakMb = Math.max(peakMb, processRssBytes(pid) / 1e6);
    } catch {
      // It has ended; the honest source's answers say so.
    }
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop: (): number => {
      clearInterval(timer);
      look();
      return peakMb;
    },
  };
}
