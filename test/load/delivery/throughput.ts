/**
 * Deliveries a second of one process that finds its records in the topic, beside undici's bare loop with the same
 * bodies and signatures in the same run.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { processCpuMs } from "../figures/process-cpu.ts";
import { startSink } from "../setup/sink.ts";
import { createDeliveryBench } from "./delivery-bench.ts";

export interface Cost {
  readonly perSecond: number;
  /** Microseconds of the process's CPU a delivery. */
  readonly cpuUs: number;
}

const BARE_LOOP = fileURLToPath(new URL("../../../packages/webhook/bench/send.ts", import.meta.url));
/**
 * The measured part of a run: neither the start, while the code is being compiled, nor the last few that wait for their
 * lane.
 */
const FROM = 0.4;
const TO = 0.95;
const SAMPLE_MS = 20;
/** The bare loop's rounds while its code is being compiled, and those that are measured. */
const COLD_ROUNDS = 3;
const WARM_ROUNDS = 3;

/** The bare loop as a process of its own: median of its rounds with compiled code, as delivery is measured. */
export function measureBareLoop(requests: number): Cost {
  const words = [BARE_LOOP, String(requests), String(COLD_ROUNDS + WARM_ROUNDS), "bare"];
  const output = execFileSync(process.execPath, words, { encoding: "utf8" });
  const all = [...output.matchAll(/bare ([\d.]+) us CPU \(([\d.]+) us\)/g)].map(([, cpuUs, wallUs]) => ({
    perSecond: 1_000_000 / Number(wallUs),
    cpuUs: Number(cpuUs),
  }));
  const rounds = all.slice(COLD_ROUNDS);
  const middle = rounds.sort((left, right) => left.perSecond - right.perSecond)[Math.floor(rounds.length / 2)];
  if (middle === undefined) throw new Error(`the bare loop printed no round: ${output}`);
  return middle;
}

/** One delivery process over `count` records that stand in the topic when it starts. */
export async function measureDelivery(count: number, attemptLog: "off" | "all"): Promise<Cost> {
  const sink = await startSink();
  const bench = await createDeliveryBench();
  try {
    await bench.configure({ healthy: `${sink.origin}/ok` });
    await bench.write(["healthy"], count);
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: attemptLog });
    const samples: { atMs: number; cpuMs: number; done: number }[] = [];
    let done = 0;
    while (done < count * TO) {
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
      done += (await sink.report()).ok;
      samples.push({ atMs: performance.now(), cpuMs: processCpuMs(delivery.pid), done });
    }
    const first = samples.find((sample) => sample.done >= count * FROM);
    const last = samples.at(-1);
    if (first === undefined || last === undefined || last.done === first.done) {
      throw new Error(`too few records for a measurement: ${count}`);
    }
    const deliveries = last.done - first.done;
    return {
      perSecond: (deliveries * 1000) / (last.atMs - first.atMs),
      cpuUs: ((last.cpuMs - first.cpuMs) * 1000) / deliveries,
    };
  } finally {
    await bench.close();
    sink.close();
  }
}
