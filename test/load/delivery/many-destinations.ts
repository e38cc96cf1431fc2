/**
 * The cost of destinations to a delivery process that serves many of them (I4): its memory and its connections. Every
 * destination has a host of its own, and they are served in turn, so that with more of them than connections each
 * request needs a new one.
 */

import { processRssBytes } from "../figures/process-cpu.ts";
import { startSink } from "../setup/sink.ts";
import { createDeliveryBench } from "./delivery-bench.ts";

export interface ManyOptions {
  readonly destinations: number;
  readonly deliveries: number;
}

export interface ManyUsed {
  /** Resident memory once the destinations are known and nothing was delivered. */
  readonly knownBytes: number;
  /** The most while they were served. */
  readonly usedBytes: number;
  /** The most connections at once, seen from the receiver. */
  readonly connections: number;
  /** Connections that are left when the idle time of a connection has passed. */
  readonly connectionsAfter: number;
  readonly perSecond: number;
}

const SETTLE_MS = 5000;
const SAMPLE_MS = 100;
/** An idle connection is closed after 15 s. */
const IDLE_MS = 20_000;

export async function measureDestinations({ destinations, deliveries }: ManyOptions): Promise<ManyUsed> {
  const sink = await startSink();
  const bench = await createDeliveryBench();
  try {
    const ids = Array.from({ length: destinations }, (_, index) => `destination-${index}`);
    await bench.configure(Object.fromEntries(ids.map((id, index) => [id, `${sink.originOf(index)}/ok`])));
    const delivery = await bench.start({ POSTHASTE_ATTEMPT_LOG: "off" });
    await pause(SETTLE_MS);
    const knownBytes = processRssBytes(delivery.pid);

    const startedMs = performance.now();
    const written = bench.write(ids, deliveries);
    let usedBytes = 0;
    let connections = 0;
    for (let done = 0; done < deliveries; ) {
      await pause(SAMPLE_MS);
      const report = await sink.report();
      done += report.ok;
      connections = Math.max(connections, report.connections);
      usedBytes = Math.max(usedBytes, processRssBytes(delivery.pid));
    }
    const perSecond = (deliveries * 1000) / (performance.now() - startedMs);
    await written;
    await pause(IDLE_MS);
    return { knownBytes, usedBytes, connections, connectionsAfter: (await sink.report()).connections, perSecond };
  } finally {
    await bench.close();
    sink.close();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
