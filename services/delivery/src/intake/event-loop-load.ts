/**
 * Whether the event loop of this process is busy.
 *
 * Owns: the event loop's utilization at the last question.
 */
import { performance } from "node:perf_hooks";

/**
 * The busy share of time from which on the event loop counts as busy. No event loop reaches 1 while brokers and
 * receivers answer in between.
 */
const BUSY = 0.6;

/** Returns whether the event loop was busy since the last question, or since the function was made. */
export function createEventLoopLoad(utilizationOf = performance.eventLoopUtilization): () => boolean {
  let last = utilizationOf();
  return () => {
    const now = utilizationOf();
    const { utilization } = utilizationOf(now, last);
    last = now;
    return utilization > BUSY;
  };
}
