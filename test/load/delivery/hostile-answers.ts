/**
 * Effect of one hostile receiver on a healthy destination of the same delivery process. The healthy destination gets
 * 100 events a second, the hostile one 10. Of an answer
 * that keeps within its budget, dear as it is, it gets 300.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { HOSTILE_ANSWERS, type HostileName } from "@posthaste/testkit/hostile-answers";
import { quantile } from "../figures/statistics.ts";
import type { ServiceProcess } from "../setup/service-process.ts";
import { startSink } from "../setup/sink.ts";
import { writeSteadily } from "../setup/steady-writes.ts";
import { createDeliveryBench } from "./delivery-bench.ts";

const HEALTHY_RATE = 100;
const HOSTILE_RATE = 10;
const DEAR_RATE = 300;
const WARM_UP_MS = 2000;

export const HOSTILE_NAMES = Object.keys(HOSTILE_ANSWERS) as readonly HostileName[];

/** Whether the answer ends within its budget, so that no breaker opens. */
export function isWithinBudget(name: HostileName): boolean {
  return HOSTILE_ANSWERS[name].endless === null || name === "endless body";
}

export interface FeltOfHostile {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The largest resident memory of the delivery process, in MB. */
  readonly peakMb: number;
  readonly cpuShare: number;
  /** Requests to the hostile receiver until its breaker was open; null where it did not open. */
  readonly untilOpen: number | null;
}

/** Measures beside one hostile receiver; beside none for null. */
export async function measureHostile(name: HostileName | null, seconds: number): Promise<FeltOfHostile> {
  const sink = await startSink();
  const receiver = await startHostileReceiver();
  const bench = await createDeliveryBench();
  try {
    const hostile = `http://127.0.0.1:${receiver.port}/${encodeURIComponent(name ?? "")}`;
    await bench.configure({ healthy: `${sink.originOf(1)}/ok`, hostile });
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    const healthy = writeSteadily(HEALTHY_RATE, seconds, (count) => bench.write(["healthy"], count, { stamped: true }));
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    await sink.report();
    const cpuBefore = await delivery.metric("process_cpu_seconds_total");
    const rate = name === null ? 0 : HOSTILE_ANSWERS[name].endless === null ? DEAR_RATE : HOSTILE_RATE;
    const watch = watchBreaker(delivery, receiver.requests);
    await writeSteadily(rate, seconds - WARM_UP_MS / 1000, (count) => bench.write(["hostile"], count));
    await healthy;
    const cpuShare = ((await delivery.metric("process_cpu_seconds_total")) - cpuBefore) / (seconds - WARM_UP_MS / 1000);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { latenciesMs } = await sink.report();
    return {
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
      peakMb: await peakMb(delivery.pid),
      cpuShare,
      untilOpen: await watch.end(),
    };
  } finally {
    await bench.close();
    receiver.close();
    sink.close();
  }
}

async function startHostileReceiver() {
  const path = fileURLToPath(new URL("../setup/hostile-receiver-process.ts", import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [port] = await once(lines, "line");
  return {
    port: String(port),
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
  const watching = (async () => {
    while (!isOver && untilOpen === null) {
      if ((await delivery.metric('posthaste_breaker_state{state="open"}')) > 0) untilOpen = await requests();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await watching;
      return untilOpen;
    },
  };
}

async function peakMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}
