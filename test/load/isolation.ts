/**
 * What a healthy destination feels of a sick one: half of the events each, over one delivery process. Latency at a steady
 * rate, from the writing of the record to the receiver; throughput over a backlog.
 */
import { createDeliveryBench, type DeliveryBench } from "./delivery-bench.ts";
import { type Sink, startSink } from "./sink.ts";
import { quantile } from "./statistics.ts";

/** What the other half of the events meets. */
export const NEIGHBOURS = ["alone", "hanging", "refusing", "failing", "100 hanging of 1,000"] as const;
export type Neighbour = (typeof NEIGHBOURS)[number];

export interface Felt {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Healthy deliveries a second over a backlog. */
  readonly perSecond: number;
}

/** A port that nothing listens on: reserved, and never given out for connections. */
const REFUSING_ORIGIN = "http://127.0.0.1:1";
const RATE_PER_SECOND = 100;
const WRITE_EVERY_MS = 20;

export interface IsolationOptions {
  readonly latencySeconds: number;
  /** Healthy records of the backlog. */
  readonly backlog: number;
}

export async function measureIsolation(neighbour: Neighbour, options: IsolationOptions): Promise<Felt> {
  const sink = await startSink();
  const bench = await createDeliveryBench();
  try {
    const { healthy, sick } = destinations(neighbour, sink.origin);
    await bench.configure({ ...healthy, ...sick });
    const ids = { healthy: Object.keys(healthy), sick: Object.keys(sick) };
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    const latenciesMs = await measureLatency(bench, sink, ids, options.latencySeconds);
    await delivery.stop();
    await sink.report();
    await bench.write(interleave(ids), options.backlog * (ids.sick.length > 0 ? 2 : 1));
    await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    const perSecond = await measureBacklog(sink, options.backlog);
    return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99), perSecond };
  } finally {
    await bench.close();
    sink.close();
  }
}

interface Ids {
  readonly healthy: readonly string[];
  readonly sick: readonly string[];
}

/** Half of the deliveries to either kind, in turn. */
function interleave({ healthy, sick }: Ids): readonly string[] {
  if (sick.length === 0) return healthy;
  const turns = Math.max(healthy.length, sick.length);
  return Array.from({ length: 2 * turns }, (_, turn) => {
    const list = turn % 2 === 0 ? healthy : sick;
    return list[(turn >> 1) % list.length] ?? "";
  });
}

function destinations(neighbour: Neighbour, origin: string) {
  const many = (name: string, count: number, url: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}-${index}`, url]));
  const healthy = { healthy: `${origin}/ok` };
  switch (neighbour) {
    case "alone":
      return { healthy, sick: {} };
    case "hanging":
      return { healthy, sick: { sick: `${origin}/hang` } };
    case "refusing":
      return { healthy, sick: { sick: `${REFUSING_ORIGIN}/` } };
    case "failing":
      return { healthy, sick: { sick: `${origin}/fail` } };
    case "100 hanging of 1,000":
      return { healthy: many("healthy", 900, `${origin}/ok`), sick: many("sick", 100, `${origin}/hang`) };
  }
}

async function measureLatency(bench: DeliveryBench, sink: Sink, ids: Ids, seconds: number): Promise<number[]> {
  const order = interleave(ids);
  const perTick = (RATE_PER_SECOND * (ids.sick.length > 0 ? 2 : 1) * WRITE_EVERY_MS) / 1000;
  const startedMs = performance.now();
  let turn = 0;
  let due = 0;
  while (performance.now() - startedMs < seconds * 1000) {
    due += perTick;
    const now: string[] = [];
    for (; turn < due; turn += 1) now.push(order[turn % order.length] ?? "");
    // Not awaited: the next ones are due whether the brokers have these or not.
    void bench.write(now, now.length, true);
    const nextMs = startedMs + Math.ceil((performance.now() - startedMs) / WRITE_EVERY_MS) * WRITE_EVERY_MS;
    await new Promise((resolve) => setTimeout(resolve, nextMs - performance.now()));
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { latenciesMs } = await sink.report();
  // The first second pays for connections and for code that was never run.
  return latenciesMs.slice(RATE_PER_SECOND);
}

/** Healthy deliveries a second from the first fifth of the backlog to its end, but for the last few. */
async function measureBacklog(sink: Sink, backlog: number): Promise<number> {
  let done = 0;
  let first: { atMs: number; done: number } | undefined;
  while (done < backlog * 0.95) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    done += (await sink.report()).ok;
    if (first === undefined && done >= backlog * 0.2) first = { atMs: performance.now(), done };
  }
  if (first === undefined) throw new Error(`too few records for a measurement: ${backlog}`);
  return ((done - first.done) * 1000) / (performance.now() - first.atMs);
}
