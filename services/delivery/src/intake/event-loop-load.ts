/**
 * Whether this process had hardly any time left lately.
 *
 * Owns: the event loop's utilization when it was asked last.
 */
import { performance } from "node:perf_hooks";

/** A share of the time: no event loop runs all of it while brokers and receivers answer in between. */
const BUSY = 0.6;

/** Answers whether the event loop was busy since it was asked last, or since it was made. */
export function createEventLoopLoad(utilizationOf = performance.eventLoopUtilization): () => boolean {
  let last = utilizationOf();
  return () => {
    const now = utilizationOf();
    const { utilization } = utilizationOf(now, last);
    last = now;
    return utilization > BUSY;
  };
}
