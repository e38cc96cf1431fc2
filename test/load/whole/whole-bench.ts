/** The base of the measurements of the whole path: one installation, its sources and receiver, each process's CPU. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Installation, startInstallation } from "../../e2e/installation.ts";
import { createRoute } from "../../e2e/route.ts";
import { processCpuMs, processRssBytes } from "../figures/process-cpu.ts";
import { type Sink, startSink } from "../setup/sink.ts";

const run = promisify(execFile);
const RAW_LOOP = fileURLToPath(new URL("./raw-loop.ts", import.meta.url));

/** The processes whose CPU is counted, as the installation names them. */
export const PROCESSES = ["kafka-1", "ingest", "router", "delivery", "control"] as const;
export type ProcessName = (typeof PROCESSES)[number];
export type ByProcess = Readonly<Record<ProcessName, number>>;

export const BODY_BYTES = 1024;
/** Settings under which no limit of a source is met. */
const UNLIMITED = { POSTHASTE_SOURCE_CALLS_PER_SECOND: "10000000", POSTHASTE_SOURCE_BYTES_PER_SECOND: "10000000000" };

/** A source, and how many destinations each of its events has. */
export interface BenchSource {
  readonly headers: Readonly<Record<string, string>>;
  readonly destinations: number;
}

export interface WholeBench {
  readonly installation: Installation;
  readonly sink: Sink;
  readonly toOne: BenchSource;
  readonly toFive: BenchSource;
  close(): Promise<void>;
}

/** Starts the services, of the sources in a folder where one is given. */
export async function startWholeBench(sources: string | undefined): Promise<WholeBench> {
  const sink = await startSink();
  const installation = await startInstallation({ brokers: 1, longLived: true, settings: UNLIMITED, sources });
  const { control } = installation;
  const toOne = await createRoute(installation, { url: sink.origin }, "/one");
  const toFive = await createRoute(installation, { url: sink.origin }, "/one-of-five");
  for (let each = 2; each <= 5; each += 1) {
    const urls = [`${sink.originOf(each)}/one-of-five`];
    await control.createDestination({
      name: `${each}`,
      sourceIds: [toFive.sourceId],
      urls,
      sharedSecret: toFive.sharedSecret,
    });
  }
  return {
    installation,
    sink,
    toOne: { headers: headersOf(toOne.writeKey), destinations: 1 },
    toFive: { headers: headersOf(toFive.writeKey), destinations: 5 },
    close: async () => {
      await installation.close();
      sink.close();
    },
  };
}

function headersOf(writeKey: string): Readonly<Record<string, string>> {
  const authorization = `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`;
  return { Authorization: authorization, "Content-Type": "application/json" };
}

export interface RawLoop {
  readonly perSecond: number;
  /** Seconds of its CPU for a thousand requests. */
  readonly cpu: number;
}

/** The ceiling: the raw loop with the same receiver. */
export async function measureRawLoop({ sink }: WholeBench, seconds: number): Promise<RawLoop> {
  const { stdout } = await run(process.execPath, [RAW_LOOP, sink.origin, "32", String(seconds), String(BODY_BYTES)]);
  await sink.report();
  return JSON.parse(stdout) as RawLoop;
}

/** The CPU of each process so far, in ms. */
export function cpuNow({ system }: Installation): ByProcess {
  return ofEach((name) => processCpuMs(system.process(name).pid ?? 0));
}

/** The resident memory of each process, in MB. */
export function memoryNow({ system }: Installation): ByProcess {
  return ofEach((name) => processRssBytes(system.process(name).pid ?? 0) / 1e6);
}

export function ofEach(value: (name: ProcessName) => number): ByProcess {
  return Object.fromEntries(PROCESSES.map((name) => [name, value(name)])) as Record<ProcessName, number>;
}

export function sumOf(values: ByProcess): number {
  return PROCESSES.reduce((sum, name) => sum + values[name], 0);
}
