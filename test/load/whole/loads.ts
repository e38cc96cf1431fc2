/** The loads of the whole path: calls one by one or in batches as fast as they are answered, and at a steady rate. */

import { quantile } from "../figures/statistics.ts";
import { runWrk } from "../ingest/wrk.ts";
import { measureLatency } from "../setup/open-loop.ts";
import { readTo } from "../setup/read-model-log.ts";
import { type BenchSource, BODY_BYTES, type ByProcess, cpuNow, ofEach, type WholeBench } from "./whole-bench.ts";

export interface Measured {
  /** Deliveries a second. */
  readonly perSecond: number;
  /** Seconds of CPU for a thousand deliveries, of each process. */
  readonly cpu: ByProcess;
  /** From the moment a call was due to its POST, in ms; at a steady rate alone. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

export type Load = (bench: WholeBench, seconds: number) => Promise<Measured>;

/** Different bodies in a closed loop, each of users of its own. */
const BODIES = 50;
const DRAIN_MS = 60_000;
const LOOK_MS = 50;

interface ClosedLoop {
  readonly connections: number;
  /** Calls in a request. */
  readonly batch?: number;
  readonly sourceOf?: (bench: WholeBench) => BenchSource;
}

/** Calls in a closed loop. Deliveries are counted until the last one came, and CPU until control has read of it. */
export function closedLoop({ connections, batch = 1, sourceOf = ({ toOne }) => toOne }: ClosedLoop): Load {
  const bodies = Array.from({ length: BODIES }, (_, n) => {
    const calls = Array.from({ length: batch }, (__, m) => call({ userId: `user-${n}-${m}` }));
    return JSON.stringify(batch === 1 ? calls[0] : { batch: calls });
  });
  return async (bench, seconds) => {
    const { headers, destinations } = sourceOf(bench);
    const url = `${bench.installation.system.ingestUrl}${batch === 1 ? "/v1/track" : "/v1/batch"}`;
    return measured(bench, async () => {
      const { requests } = await runWrk({ url, connections, seconds, body: "", bodies, headers });
      return requests * batch * destinations;
    });
  };
}

/** Calls from their scheduled moments on, whatever the answers take. */
export function openLoop(perSecond: number): Load {
  return (bench, seconds) => {
    const url = `${bench.installation.system.ingestUrl}/v1/track`;
    const run = performance.now();
    let count = 0;
    const send = async () => {
      count += 1;
      const due = performance.timeOrigin + performance.now();
      const named = { messageId: `${run}-${count}@${due.toFixed(3)}`, userId: `user-${count}` };
      const answer = await fetch(url, {
        method: "POST",
        headers: bench.toOne.headers,
        body: JSON.stringify(call(named)),
      });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`a call was answered ${answer.status}`);
    };
    return measured(bench, async () => {
      await measureLatency(perSecond, seconds, send);
      return perSecond * seconds;
    });
  };
}

/** Runs a load that answers how many deliveries it makes. */
async function measured(bench: WholeBench, load: () => Promise<number>): Promise<Measured> {
  const { installation, sink } = bench;
  await sink.report();
  const [before, startedMs] = [cpuNow(installation), performance.now()];
  const deliveries = await load();
  const { endedMs, latenciesMs } = await untilDelivered(bench, deliveries);
  await readTo(installation, "/v1/deliveries", Date.now());
  const after = cpuNow(installation);
  return {
    perSecond: (deliveries * 1000) / (endedMs - startedMs),
    cpu: ofEach((name) => (after[name] - before[name]) / deliveries),
    ...(latenciesMs.length === 0 ? {} : { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) }),
  };
}

async function untilDelivered({ sink }: WholeBench, deliveries: number) {
  const deadlineMs = performance.now() + DRAIN_MS;
  const latenciesMs: number[] = [];
  let delivered = 0;
  for (;;) {
    const report = await sink.report();
    delivered += report.ok;
    for (const each of report.latenciesMs) latenciesMs.push(each);
    if (delivered >= deliveries) return { endedMs: performance.now(), latenciesMs };
    if (performance.now() > deadlineMs) throw new Error(`of ${deliveries} deliveries ${delivered} were made`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function call(fields: object): object {
  const shape = { type: "track", event: "Order Completed", ...fields, properties: { padding: "" } };
  const padding = "x".repeat(Math.max(0, BODY_BYTES - JSON.stringify(shape).length));
  return { ...shape, properties: { padding } };
}
