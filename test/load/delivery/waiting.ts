/**
 * A retry topic in which everything waits at once and then comes due at the rate at which it was written: the memory of
 * the delivery process, and the lateness of due records. To deliver costs memory too, so another process shows the
 * memory of the same rate when nothing ever waited.
 */
import { retryTopicName } from "@posthaste/contracts/topics";
import { processRssBytes } from "../figures/process-cpu.ts";
import { quantile } from "../figures/statistics.ts";
import type { ServiceProcess } from "../setup/service-process.ts";
import { type Sink, startSink } from "../setup/sink.ts";
import { writeSteadily } from "../setup/steady-writes.ts";
import { createDeliveryBench, type DeliveryBench } from "./delivery-bench.ts";

export interface WaitingOptions {
  readonly records: number;
  /** Written and, later, due. */
  readonly perSecond: number;
}

export interface Waited {
  readonly received: number;
  /** Resident memory of a process that did nothing yet. */
  readonly idleBytes: number;
  /** The most beyond that while the records were written and waited. */
  readonly waitingBytes: number;
  /** The most beyond that while they came due and were delivered. */
  readonly leavingBytes: number;
  /** The most beyond its own idle memory of a process that delivers as many a second, fresh. */
  readonly freshBytes: number;
  /** How long after its due time a record left its topic: the bound that holds for 99 in 100, and for all. */
  readonly leftWithin: { readonly p99Ms: number; readonly allMs: number };
  /** How long after its due time a record reached its receiver, the jitter included. */
  readonly arrivedMs: { readonly p50: number; readonly p99: number; readonly most: number };
}

const DESTINATIONS = Array.from({ length: 10 }, (_, index) => `destination-${index}`);
const SETTLE_MS = 10_000;
const SAMPLE_MS = 500;
/** Between the last write and the first due record, so that all of them wait at once. */
const ALL_WAIT_SECONDS = 20;
/** A record that is not there so long after the last due time is missing. */
const PATIENCE_MS = 30_000;
const FRESH_SECONDS = 30;
/** Upper ends of the buckets of `posthaste_retry_lateness_seconds`. */
const LATENESS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export async function measureWaiting({ records, perSecond }: WaitingOptions): Promise<Waited> {
  const waited = await measureRetries(records, perSecond);
  return { ...waited, freshBytes: await measureFresh(perSecond) };
}

async function measureRetries(records: number, perSecond: number): Promise<Omit<Waited, "freshBytes">> {
  const writeSeconds = records / perSecond;
  const delayMs = (writeSeconds + ALL_WAIT_SECONDS) * 1000;
  // A short tier as well: the jitter is bounded by the smallest gap of the schedule.
  return withProcess([10_000, delayMs], async ({ bench, sink, delivery, idleBytes }) => {
    const startedMs = performance.now();
    const written = writeSteadily(perSecond, writeSeconds, (count) =>
      bench.write(DESTINATIONS, count, { stamped: true, retryDelayMs: delayMs }),
    );
    let waitingBytes = 0;
    while (performance.now() - startedMs < delayMs) {
      await pause(SAMPLE_MS);
      waitingBytes = Math.max(waitingBytes, processRssBytes(delivery.pid) - idleBytes);
    }
    await written;

    const latenessMs: number[] = [];
    let leavingBytes = 0;
    const endMs = startedMs + delayMs + writeSeconds * 1000 + PATIENCE_MS;
    while (latenessMs.length < records && performance.now() < endMs) {
      await pause(SAMPLE_MS);
      leavingBytes = Math.max(leavingBytes, processRssBytes(delivery.pid) - idleBytes);
      for (const latencyMs of (await sink.report()).latenciesMs) latenessMs.push(latencyMs - delayMs);
    }
    return {
      received: latenessMs.length,
      idleBytes,
      waitingBytes,
      leavingBytes,
      leftWithin: await readLateness(delivery, retryTopicName(bench.names, delayMs)),
      arrivedMs: { p50: quantile(latenessMs, 0.5), p99: quantile(latenessMs, 0.99), most: quantile(latenessMs, 1) },
    };
  });
}

/** The most that a process grows by which delivers so many a second and has none that wait. */
function measureFresh(perSecond: number): Promise<number> {
  return withProcess([10_000], async ({ bench, sink, delivery, idleBytes }) => {
    const written = writeSteadily(perSecond, FRESH_SECONDS, (count) => bench.write(DESTINATIONS, count));
    let grownBytes = 0;
    for (let done = 0; done < perSecond * FRESH_SECONDS; done += (await sink.report()).ok) {
      await pause(SAMPLE_MS);
      grownBytes = Math.max(grownBytes, processRssBytes(delivery.pid) - idleBytes);
    }
    await written;
    return grownBytes;
  });
}

interface Idle {
  readonly bench: DeliveryBench;
  readonly sink: Sink;
  readonly delivery: ServiceProcess;
  readonly idleBytes: number;
}

/** Runs `work` with a delivery process that has settled and did nothing yet. */
async function withProcess<T>(retryDelaysMs: readonly number[], work: (idle: Idle) => Promise<T>): Promise<T> {
  const sink = await startSink();
  const bench = await createDeliveryBench({ retryDelaysMs });
  try {
    await bench.configure(Object.fromEntries(DESTINATIONS.map((id, index) => [id, `${sink.originOf(index)}/ok`])));
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    await pause(SETTLE_MS);
    return await work({ bench, sink, delivery, idleBytes: processRssBytes(delivery.pid) });
  } finally {
    await bench.close();
    sink.close();
  }
}

/** The histogram's buckets are all that is known: each bound is the upper end of the bucket it falls in. */
async function readLateness(delivery: ServiceProcess, topic: string): Promise<Waited["leftWithin"]> {
  const name = "posthaste_retry_lateness_seconds";
  const total = await delivery.metric(`${name}_count{topic="${topic}"}`);
  if (total === 0) throw new Error(`no record left ${topic}`);
  const counts = await Promise.all(
    LATENESS_SECONDS.map((le) => delivery.metric(`${name}_bucket{le="${le}",topic="${topic}"}`)),
  );
  const boundOf = (share: number) => {
    const bucket = counts.findIndex((count) => count >= total * share);
    return (LATENESS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY) * 1000;
  };
  return { p99Ms: boundOf(0.99), allMs: boundOf(1) };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
