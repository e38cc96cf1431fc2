/**
 * The gateway in a process of its own that reports its costs: the real server, reader, parser and codecs; records for
 * the brokers are let go of. Its parent asks by `MeterQuestion`.
 */

import { memoryUsage } from "node:process";
import { GCProfiler } from "node:v8";
import { gunzipSync, gzipSync } from "node:zlib";
import { createTopicNames } from "@posthaste/contracts/topics";
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { Event } from "@posthaste/core/event/event";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { schemaRegistryUrl } from "@posthaste/testkit/broker";
import { startTestGateway } from "../test-gateway.ts";

export type MeterQuestion = "begin" | "end" | "calibrate";

export interface Cost {
  /** CPU of the process and all of its threads, in ms. */
  readonly cpuMs: number;
  /**
   * How much more the heap and its buffers held at most, seen before each collection and at the end; 0 without
   * `--expose-gc`; bytes.
   */
  readonly peakBytes: number;
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;

const openCodec = createOpenCodec({ url: schemaRegistryUrl(), names: createTopicNames("posthaste-hostile") });
const [eventCodec, rejectedCodec] = await Promise.all([
  openCodec<Event>("event"),
  openCodec<RejectedCalls>("rejected-calls"),
]);
const gateway = await startTestGateway({
  // The cost of one request is asked here, not the rate of a source.
  perSource: { calls: EVERYTHING, bytes: EVERYTHING },
  maxPendingBytes: EVERYTHING,
  producer: { send: () => Promise.resolve(), pendingBytes: 0, stalledMs: () => 0 },
  encodeEvent: eventCodec.encode,
  encodeRejectedCalls: rejectedCodec.encode,
});

let profiler: GCProfiler | undefined;
let heldBefore = 0;
let before = process.cpuUsage();

/** Honest work of the kind that a request costs. */
const calls = Array.from({ length: 300 }, (_, n) => ({
  userId: `user-${n}`,
  event: "Ordered",
  properties: { revenue: n / 7 },
}));
const work = gzipSync(JSON.stringify({ batch: calls }));

process.on("message", (question: MeterQuestion) => {
  if (question === "begin") {
    if (globalThis.gc !== undefined) {
      globalThis.gc();
      profiler = new GCProfiler();
      profiler.start();
      heldBefore = held();
    }
    process.send?.("begun");
    before = process.cpuUsage();
  } else if (question === "end") {
    process.send?.(costSinceBegin());
  } else {
    process.send?.(calibrate());
  }
});
process.on("disconnect", () => process.exit(0));
process.send?.(gateway.url);

function held(): number {
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
}

function costSinceBegin(): Cost {
  const { user, system } = process.cpuUsage(before);
  if (profiler === undefined) return { cpuMs: (user + system) / 1000, peakBytes: 0 };
  const seen = [held()];
  for (const { beforeGC } of profiler.stop()?.statistics ?? []) {
    seen.push(beforeGC.heapStatistics.usedHeapSize + beforeGC.heapStatistics.externalMemory);
  }
  return { cpuMs: (user + system) / 1000, peakBytes: Math.max(0, Math.max(...seen) - heldBefore) };
}

/** The cost of the fixed work at this moment, in ms of CPU: the least of some times. */
function calibrate(): number {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 4; time++) {
    const start = process.cpuUsage();
    for (let again = 0; again < 10; again++) JSON.stringify(JSON.parse(gunzipSync(work).toString()));
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
