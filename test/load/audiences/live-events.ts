/** Live events at a steady rate, from before the call to the receiver, through whatever pipeline takes them. */
import { eventually } from "@posthaste/testkit/eventually";
import { sendOne } from "../../e2e/calls.ts";
import { quantile } from "../figures/statistics.ts";
import type { Sink } from "../setup/sink.ts";

export const LIVE_PER_SECOND = 200;

export interface LiveRoute {
  readonly url: string;
  readonly writeKey: string;
}

let serial = 0;

/** Their p99 in ms, over so many seconds. */
export async function liveP99({ url, writeKey }: LiveRoute, sink: Sink, seconds: number): Promise<number> {
  await sink.report();
  const startedMs = performance.now();
  const total = LIVE_PER_SECOND * seconds;
  const answered: Promise<number>[] = [];
  while (answered.length < total) {
    const due = Math.floor(((performance.now() - startedMs) * LIVE_PER_SECOND) / 1000);
    while (answered.length < Math.min(total, due)) {
      serial += 1;
      // The sink takes the time from the id.
      const messageId = `live-${serial}@${performance.timeOrigin + performance.now()}`;
      answered.push(sendOne(url, writeKey, { type: "track", event: "Live", userId: `live-${serial}`, messageId }));
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // A machine that is busy with other things makes ingest refuse some: those are no part of the figure.
  const taken = (await Promise.all(answered)).filter((status) => status === 200).length;
  const took: number[] = [];
  // One that found its receiver busy is tried again ten seconds later.
  await eventually(
    async () => {
      took.push(...(await sink.report()).latenciesMs);
      if (took.length < taken) throw new Error(`${took.length} of ${taken} live events arrived`);
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
  return quantile(took, 0.99);
}
