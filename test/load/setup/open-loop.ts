/** Requests at a steady rate, whatever the answers take, so that a slow answer does not slow the questions down. */
import { quantile } from "../figures/statistics.ts";

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const TICK_MS = 1;

/** Runs `ask` so many times a second, whatever the answers take, and returns how long each took from its asking. */
export async function measureLatency(
  perSecond: number,
  seconds: number,
  ask: () => Promise<unknown>,
): Promise<Latency> {
  const total = perSecond * seconds;
  const latencies: number[] = [];
  const asked: Promise<void>[] = [];
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - startMs) * perSecond) / 1000));
      while (asked.length < due) {
        const askedMs = performance.now();
        asked.push(ask().then(() => void latencies.push(performance.now() - askedMs)));
      }
      if (asked.length < total) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(asked);
  return { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) };
}
