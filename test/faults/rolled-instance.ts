/** One of the two instances of a service in a rolling restart. */
import type { ServiceName } from "@posthaste/local-stack/services";
import type { StackProcess } from "@posthaste/local-stack/stack-process";

const LOOK_MS = 20;
const START_MS = 120_000;

export interface RolledInstance {
  readonly service: ServiceName;
  readonly process: StackProcess;
  /** The address of its metrics. */
  readonly metricsUrl: string;
}

export interface Replacement {
  readonly service: ServiceName;
  /** From the signal to the end of the process. */
  readonly stopMs: number;
  /** From the start of the next process until it said that it is ready. */
  readonly readyMs: number;
  /** The table metrics that the instance had when it first said so, by sample. */
  readonly tables: Readonly<Record<string, number>>;
}

/** Stops the instance by SIGTERM and starts the next one in its place. Resolves when that is ready. */
export async function replace({ service, process, metricsUrl }: RolledInstance): Promise<Replacement> {
  const stoppedMs = performance.now();
  await process.stop();
  const startedMs = performance.now();
  const [, tables] = await Promise.all([process.start(), tablesWhenReady(metricsUrl)]);
  return { service, stopMs: startedMs - stoppedMs, readyMs: performance.now() - startedMs, tables };
}

async function tablesWhenReady(metricsUrl: string): Promise<Readonly<Record<string, number>>> {
  const readyUrl = metricsUrl.replace(/metrics$/, "readyz?own");
  const untilMs = performance.now() + START_MS;
  for (;;) {
    const answer = await fetch(readyUrl).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return readTables(metricsUrl);
    if (performance.now() > untilMs) throw new Error(`${readyUrl} was not ready in ${START_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function readTables(metricsUrl: string): Promise<Readonly<Record<string, number>>> {
  const page = await (await fetch(metricsUrl)).text();
  const samples = page.matchAll(/^posthaste_(table_(?:records|behind_records)\{topic="[^"]+"\}) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, sample = "", value]) => [sample, Number(value)]));
}
