/**
 * Effect of one hostile receiver on a healthy destination of the same delivery process.
 *
 * The healthy destination gets 200 events a second throughout, for a turn alone and a turn beside the hostile one, in
 * rounds, so that the machine's other work is in both. The hostile one gets 10 a second, and is a new one in each
 * round: its breaker was never open. Of an answer that keeps within its budget, dear as it is, it gets 300, and of an
 * ordinary one that closes its connection as many, for comparison.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "@posthaste/testkit/eventually";
import { HOSTILE_ANSWERS, type HostileName } from "@posthaste/testkit/hostile-answers";
import { processCpuMs, processPeakBytes } from "../figures/process-cpu.ts";
import { median, quantile } from "../figures/statistics.ts";
import type { ServiceProcess } from "../setup/service-process.ts";
import { type Sink, startSink } from "../setup/sink.ts";
import { writeSteadily } from "../setup/steady-writes.ts";
import { createDeliveryBench, type DeliveryBench } from "./delivery-bench.ts";

const HEALTHY_RATE = 200;
const HOSTILE_RATE = 10;
const MANY_RATE = 300;
const AT_MANY: readonly (HostileName | null)[] = ["dear within its budget", "200, then closed"];
/** Healthy deliveries before the first turn: the code is compiled by then. */
const WARM_UP = 20_000;
/** Nothing that was deferred comes back in a later turn. */
const RETRY_DELAYS_MS = [3_600_000];
/** Answers whose cost is measured, twenty a destination: beyond those its breaker is open. */
const COSTLY_DESTINATIONS = 25;
const ANSWERS_EACH = 20;
const IDLE_MS = 2000;
/** A head that drips fails one request in 5 s towards the end, until its breaker opens. */
const PATIENCE_MS = 120_000;

export const HOSTILE_NAMES = Object.keys(HOSTILE_ANSWERS) as readonly HostileName[];

/** Whether the answer ends within its budget, so that no breaker opens. */
export function isWithinBudget(name: HostileName): boolean {
  return AT_MANY.includes(name) || name === "endless body";
}

export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Medians of all rounds, and the p99 of the quietest: other work of the machine only adds to it. */
export interface Felt extends Latencies {
  readonly leastP99Ms: number;
}

export interface FeltOfHostile {
  readonly alone: Felt;
  readonly beside: Felt;
  /** The median of the rounds' ratios of p99. */
  readonly p99Times: number;
  /** The largest resident memory of the delivery process, in MB. */
  readonly peakMb: number;
  /** The delivery process's processor time for a delivery that is answered so, in ms, without neighbours. */
  readonly cpuMs: number;
  /** Requests to the hostile receiver until its breaker was open; null where it did not open. */
  readonly untilOpen: number | null;
}

export interface HostileOptions {
  readonly rounds: number;
  /** Of each turn. */
  readonly seconds: number;
}

/** Measures beside one hostile receiver; for null beside one that answers 200. */
export async function measureHostile(name: HostileName | null, options: HostileOptions): Promise<FeltOfHostile> {
  const [sink, neighbour] = [await startSink(), await startSink()];
  const receiver = name === null ? okReceiver(neighbour) : await startHostileReceiver(name);
  const bench = await createDeliveryBench({ retryDelaysMs: RETRY_DELAYS_MS });
  try {
    const ids = { turns: many("hostile", options.rounds), costly: many("costly", COSTLY_DESTINATIONS) };
    const hostile = [...ids.turns, ...ids.costly].map((id) => [id, receiver.url] as const);
    await bench.configure({ healthy: `${sink.origin}/ok`, ...Object.fromEntries(hostile) });
    await bench.write(["healthy"], WARM_UP);
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    await arrivals(sink, WARM_UP);
    const rate = AT_MANY.includes(name) ? MANY_RATE : HOSTILE_RATE;
    const turn = (hostileId: string | null) => measureTurn(bench, sink, { hostileId, rate, seconds: options.seconds });
    const [alone, beside]: [Latencies[], Latencies[]] = [[], []];
    let untilOpen: number | null = null;
    for (const [round, id] of ids.turns.entries()) {
      alone.push(await turn(null));
      const watch = round === 0 ? watchBreaker(delivery, receiver.requests) : null;
      beside.push(await turn(id));
      await quiet(delivery);
      if (watch !== null) untilOpen = await watch.end();
    }
    return {
      alone: feltOf(alone),
      beside: feltOf(beside),
      p99Times: median(beside.map(({ p99Ms }, round) => p99Ms / (alone[round]?.p99Ms ?? Number.NaN))),
      peakMb: processPeakBytes(delivery.pid) / 1024 / 1024,
      cpuMs: await cpuMsOfAnswer(bench, delivery, receiver, ids.costly),
      untilOpen,
    };
  } finally {
    await bench.close();
    for (const each of [receiver, sink, neighbour]) each.close();
  }
}

function many(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`);
}

interface Turn {
  readonly hostileId: string | null;
  readonly rate: number;
  readonly seconds: number;
}

async function measureTurn(bench: DeliveryBench, sink: Sink, { hostileId, rate, seconds }: Turn): Promise<Latencies> {
  const healthy = writeSteadily(HEALTHY_RATE, seconds, (count) => bench.write(["healthy"], count, { stamped: true }));
  if (hostileId !== null) await writeSteadily(rate, seconds, (count) => bench.write([hostileId], count));
  await healthy;
  const latenciesMs = await arrivals(sink, HEALTHY_RATE * seconds);
  return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) };
}

/** Waits for so many healthy deliveries. Returns the latencies of those that say when they were written. */
async function arrivals(sink: Sink, count: number): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  let arrived = 0;
  await eventually(async () => {
    const { ok, latenciesMs: newer } = await sink.report();
    arrived += ok;
    latenciesMs.push(...newer);
    if (arrived < count) throw new Error(`${arrived} of ${count} arrived`);
  });
  return latenciesMs;
}

function feltOf(turns: readonly Latencies[]): Felt {
  const p99Ms = turns.map((turn) => turn.p99Ms);
  return {
    p50Ms: median(turns.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(p99Ms),
    leastP99Ms: Math.min(...p99Ms),
  };
}

/** Leaves out what the process costs while nothing is delivered. */
async function cpuMsOfAnswer(
  bench: DeliveryBench,
  delivery: ServiceProcess,
  { requests }: AnsweringReceiver,
  ids: readonly string[],
): Promise<number> {
  const now = () => ({ atMs: performance.now(), cpuMs: processCpuMs(delivery.pid) });
  const answers = ids.length * ANSWERS_EACH;
  const before = await requests();
  const idle = now();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const start = now();
  await bench.write(ids, answers);
  await eventually(
    async () => {
      const came = (await requests()) - before;
      if (came < answers) throw new Error(`${came} of ${answers} requests came`);
    },
    { timeoutMs: PATIENCE_MS },
  );
  await quiet(delivery);
  const end = now();
  const idleShare = (start.cpuMs - idle.cpuMs) / (start.atMs - idle.atMs);
  return (end.cpuMs - start.cpuMs - idleShare * (end.atMs - start.atMs)) / answers;
}

/** Resolves when every request has ended and nothing waits to be sent. */
async function quiet(delivery: ServiceProcess): Promise<void> {
  await eventually(
    async () => {
      for (const gauge of ["posthaste_requests_in_flight", "posthaste_deliveries_waiting_for_room"]) {
        if ((await delivery.metric(gauge)) > 0) throw new Error(`${gauge} is above 0`);
      }
    },
    { timeoutMs: PATIENCE_MS },
  );
}

interface AnsweringReceiver {
  readonly url: string;
  /** How many requests have come. */
  readonly requests: () => Promise<number>;
  readonly close: () => void;
}

function okReceiver(sink: Sink): AnsweringReceiver {
  let came = 0;
  const requests = async () => {
    came += (await sink.report()).ok;
    return came;
  };
  return { url: `${sink.origin}/ok`, requests, close: () => undefined };
}

async function startHostileReceiver(name: HostileName): Promise<AnsweringReceiver> {
  const path = fileURLToPath(new URL("../setup/hostile-receiver-process.ts", import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [port] = await once(lines, "line");
  return {
    url: `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    requests: async () => {
      child.stdin.write("\n");
      const [count] = await once(lines, "line");
      return Number(count);
    },
    close: () => child.stdin.end(),
  };
}

/** Watches for the first open breaker. `end` returns how many requests had come by then; null where none opened. */
function watchBreaker(delivery: ServiceProcess, requests: () => Promise<number>) {
  let untilOpen: number | null = null;
  let isOver = false;
  const look = async () => {
    if ((await delivery.metric('posthaste_breaker_state{state="open"}')) > 0) untilOpen ??= await requests();
  };
  const watching = (async () => {
    while (!isOver && untilOpen === null) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await watching;
      await look();
      return untilOpen;
    },
  };
}
