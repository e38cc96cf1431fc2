/**
 * At least twice the load that one process takes, for as long as it is told: every batch that is refused is sent again
 * at once, on 1,024 connections. The invariants: nothing but 200, 429 and 503 is answered, every call that was answered
 * 200 is in the topic, and memory stays under a ceiling.
 */
import { setTimeout as pause } from "node:timers/promises";
import { processRssBytes } from "../figures/process-cpu.ts";
import { HEADERS, type IngestBench, type IngestServer } from "./ingest-bench.ts";
import { BATCH, BATCH_BODY } from "./ingest-calls.ts";
import { CONNECTIONS } from "./ingest-throughput.ts";
import { runWrk, type WrkResult } from "./wrk.ts";

const OVERLOAD_CONNECTIONS = 1024;
/** Bytes of events that may wait for the brokers. */
const PENDING_BYTES = 8 * 1024 * 1024;
/** V8 lets garbage lie while there is room; this is the room, so that the ceiling says something. */
const HEAP_MB = 256;
/**
 * The heap, 64 MB of bodies (`MAX_HELD_BODY_BYTES`), the records that wait for the brokers and their request three
 * times, and Node itself.
 */
const CEILING_MB = 512;
const SAMPLE_MS = 200;
const CAPACITY_SECONDS = 5;

/** Prints the result of it. Returns whether all of it held. */
export async function printOverload(bench: IngestBench, seconds: number): Promise<boolean> {
  const ingest = await bench.startIngest({
    POSTHASTE_INGEST_PENDING_BYTES: String(PENDING_BYTES),
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  });
  const url = `${ingest.url}/v1/batch`;
  const load = { url, body: BATCH_BODY, headers: HEADERS, countStatuses: true };
  const idleMb = processRssBytes(ingest.pid) / 1e6;
  const recordsBefore = await bench.eventCount();
  const capacity = await runWrk({ ...load, connections: CONNECTIONS, seconds: CAPACITY_SECONDS });
  const memory = watchMemory(ingest);
  const overload = await runWrk({ ...load, connections: OVERLOAD_CONNECTIONS, seconds });
  const { firstHalfMb, secondHalfMb } = await memory.stop();
  const accepted = await acceptedCalls(ingest.metricsUrl);
  const written = (await bench.eventCount()) - recordsBefore;
  await ingest.stop();

  const answered = (status: number) => (capacity.statuses.get(status) ?? 0) + (overload.statuses.get(status) ?? 0);
  const taken = answered(200) * BATCH;
  const offered = overload.perSecond / capacity.perSecond;
  const highestMb = Math.max(firstHalfMb, secondHalfMb);
  console.log(`\n${seconds} s of batches on ${OVERLOAD_CONNECTIONS} connections, a heap of ${HEAP_MB} MB at most, `);
  console.log(`${PENDING_BYTES} bytes at most that wait for the brokers\n`);
  console.log(
    `offered: ${offered.toFixed(1)} times the ${capacity.perSecond.toFixed(0)} batches a second that it takes`,
  );
  console.log(`answered: ${describeStatuses(overload)}; no answer ${overload.unanswered}`);
  console.log(`calls answered 200: ${taken}; counted by the service: ${accepted}; in the topic: ${written}`);
  console.log(
    `memory: ${idleMb.toFixed(0)} MB idle, at most ${firstHalfMb.toFixed(0)} MB in the first half and ${secondHalfMb.toFixed(0)} in the second`,
  );
  const checks: readonly (readonly [name: string, holds: boolean])[] = [
    ["at least twice the load is offered", offered >= 2],
    ["nothing but 200, 429 and 503 is answered", isOnly(overload, [200, 429, 503]) && overload.unanswered === 0],
    ["every 200 is in the topic", taken > 0 && written >= accepted && accepted >= taken],
    [`memory stays under ${CEILING_MB} MB`, highestMb < CEILING_MB],
  ];
  console.log("");
  for (const [name, holds] of checks) console.log(`${holds ? "yes" : "NO"}: ${name}`);
  return checks.every(([, holds]) => holds);
}

function isOnly({ statuses }: WrkResult, expected: readonly number[]): boolean {
  return [...statuses.keys()].every((status) => expected.includes(status));
}

function describeStatuses({ statuses }: WrkResult): string {
  return [...statuses].map(([status, count]) => `${status} ${count}`).join(", ");
}

/** The highest resident memory, until it is stopped; throws when the process is gone. */
function watchMemory({ pid }: IngestServer) {
  const samplesMb: number[] = [];
  const ending = new AbortController();
  const watching = (async () => {
    while (!ending.signal.aborted) {
      samplesMb.push(processRssBytes(pid) / 1e6);
      await pause(SAMPLE_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      ending.abort();
      await watching;
      const half = Math.floor(samplesMb.length / 2);
      return { firstHalfMb: Math.max(...samplesMb.slice(0, half)), secondHalfMb: Math.max(...samplesMb.slice(half)) };
    },
  };
}

async function acceptedCalls(metricsUrl: string): Promise<number> {
  const page = await (await fetch(metricsUrl)).text();
  return Number(/posthaste_ingest_calls_total\{answer="accepted"[^}]*\} (\d+)/.exec(page)?.[1] ?? 0);
}
