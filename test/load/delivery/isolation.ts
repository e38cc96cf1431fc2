/**
 * The effect of other work of one delivery process on healthy destinations. The healthy events are the same in every
 * case:
 *   - 100 a second: latency, from the writing of the record to the receiver;
 *   - 2,000 a second, far below the process's limit: how many of them are delivered;
 *   - a backlog: how fast they go when the process has no CPU to spare.
 * The neighbours' events, where there are any, are as many again, written in turn with them. Over a backlog they cost
 * CPU however well they are kept apart, so the sick are compared there with neighbours that are healthy too.
 */

import { quantile } from "../figures/statistics.ts";
import { type Sink, startSink } from "../setup/sink.ts";
import { writeSteadily } from "../setup/steady-writes.ts";
import { createDeliveryBench, type DeliveryBench } from "./delivery-bench.ts";

/** The healthy destinations' neighbours. */
export const NEIGHBOURS = [
  "none",
  "healthy",
  "hanging",
  "refusing",
  "failing",
  "none, beside 900",
  "100 healthy, beside 900",
  "100 hanging, beside 900",
  "100 hanging, beside 900, one host",
] as const;
export type Neighbour = (typeof NEIGHBOURS)[number];

/** The comparison of each: the same healthy ones alone, and beside as many events of healthy neighbours. */
export const COMPARED_WITH: Readonly<Record<Neighbour, { readonly alone: Neighbour; readonly crowd: Neighbour }>> = {
  none: { alone: "none", crowd: "healthy" },
  healthy: { alone: "none", crowd: "healthy" },
  hanging: { alone: "none", crowd: "healthy" },
  refusing: { alone: "none", crowd: "healthy" },
  failing: { alone: "none", crowd: "healthy" },
  "none, beside 900": { alone: "none, beside 900", crowd: "100 healthy, beside 900" },
  "100 healthy, beside 900": { alone: "none, beside 900", crowd: "100 healthy, beside 900" },
  "100 hanging, beside 900": { alone: "none, beside 900", crowd: "100 healthy, beside 900" },
  "100 hanging, beside 900, one host": { alone: "none, beside 900", crowd: "100 healthy, beside 900" },
};

export interface Felt {
  /** At 100 a second. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Delivered a second at 2,000 written a second, and their latency. */
  readonly atRate: number;
  readonly atRateP99Ms: number;
  /** Healthy deliveries a second over a backlog. */
  readonly overBacklog: number;
}

/** A port that nothing listens on: reserved, and never given out for connections. */
const REFUSING_ORIGIN = "http://127.0.0.1:1";
const LOW_RATE = 100;
const HIGH_RATE = 2000;
/** Pays for connections and for code that was never run. */
const WARM_UP_MS = 2000;

export interface IsolationOptions {
  /** Of either rate, the warm-up included. */
  readonly rateSeconds: number;
  /** Healthy records of the backlog. */
  readonly backlog: number;
}

export async function measureIsolation(neighbour: Neighbour, options: IsolationOptions): Promise<Felt> {
  const sink = await startSink();
  const bench = await createDeliveryBench();
  try {
    const { healthy, others } = destinations(neighbour, sink);
    await bench.configure({ ...healthy, ...others });
    const ids = { healthy: Object.keys(healthy), others: Object.keys(others) };
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    const low = await measureAtRate(bench, sink, ids, LOW_RATE, options.rateSeconds);
    const high = await measureAtRate(bench, sink, ids, HIGH_RATE, options.rateSeconds);
    await delivery.stop();
    await sink.report();
    await bench.write(interleave(ids), options.backlog * (ids.others.length > 0 ? 2 : 1));
    await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    return {
      p50Ms: quantile(low.latenciesMs, 0.5),
      p99Ms: quantile(low.latenciesMs, 0.99),
      atRate: high.perSecond,
      atRateP99Ms: quantile(high.latenciesMs, 0.99),
      overBacklog: await measureBacklog(sink, options.backlog),
    };
  } finally {
    await bench.close();
    sink.close();
  }
}

interface Ids {
  readonly healthy: readonly string[];
  readonly others: readonly string[];
}

/** Half of the deliveries to either kind, in turn. */
function interleave({ healthy, others }: Ids): readonly string[] {
  if (others.length === 0) return healthy;
  const turns = Math.max(healthy.length, others.length);
  return Array.from({ length: 2 * turns }, (_, turn) => {
    const list = turn % 2 === 0 ? healthy : others;
    return list[(turn >> 1) % list.length] ?? "";
  });
}

interface Destinations {
  readonly healthy: Readonly<Record<string, string>>;
  readonly others: Readonly<Record<string, string>>;
}

/** Hosts of their own but for the last: there every destination is called at one origin. */
function destinations(neighbour: Neighbour, sink: Sink): Destinations {
  const one = { healthy: `${sink.originOf(1)}/ok` };
  const many = (name: string, count: number, path: string, originOf = sink.originOf) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}-${index}`, `${originOf(index)}${path}`]));
  const nineHundred = many("healthy", 900, "/ok", (index) => sink.originOf(100 + index));
  switch (neighbour) {
    case "none":
      return { healthy: one, others: {} };
    case "healthy":
      return { healthy: one, others: { other: `${sink.originOf(2)}/second` } };
    case "hanging":
      return { healthy: one, others: { other: `${sink.originOf(2)}/hang` } };
    case "refusing":
      return { healthy: one, others: { other: `${REFUSING_ORIGIN}/` } };
    case "failing":
      return { healthy: one, others: { other: `${sink.originOf(2)}/fail` } };
    case "none, beside 900":
      return { healthy: nineHundred, others: {} };
    case "100 healthy, beside 900":
      return { healthy: nineHundred, others: many("other", 100, "/second") };
    case "100 hanging, beside 900":
      return { healthy: nineHundred, others: many("other", 100, "/hang") };
    case "100 hanging, beside 900, one host":
      return {
        healthy: many("healthy", 900, "/ok", () => sink.origin),
        others: many("other", 100, "/hang", () => sink.origin),
      };
  }
}

interface AtRate {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

/** Healthy ones at `perSecond`, and as many of the neighbours: the arrivals between the warm-up and the last write. */
async function measureAtRate(
  bench: DeliveryBench,
  sink: Sink,
  ids: Ids,
  perSecond: number,
  seconds: number,
): Promise<AtRate> {
  const order = interleave(ids);
  const events = perSecond * (ids.others.length > 0 ? 2 : 1);
  let turn = 0;
  const written = writeSteadily(events, seconds, (count) => {
    const now = Array.from({ length: count }, () => order[turn++ % order.length] ?? "");
    return bench.write(now, count, { stamped: true });
  });
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  await sink.report();
  const startedMs = performance.now();
  await written;
  const { ok, latenciesMs } = await sink.report();
  const passedMs = performance.now() - startedMs;
  // Requests under way are felt too, though they are late for the count.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const late = await sink.report();
  return { perSecond: (ok * 1000) / passedMs, latenciesMs: [...latenciesMs, ...late.latenciesMs] };
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
