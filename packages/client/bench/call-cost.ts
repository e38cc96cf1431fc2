/**
 * Cost of a `track` call to its caller, here and in `@segment/analytics-node`, in one run on one machine: each library
 * with its defaults, against a server in a process of its own that takes everything. `call` is the time that the caller
 * waits for, `all` is the processor's time of the whole process until every call was delivered. Prints the ratios.
 *
 *     npm run bench
 */
import { Analytics as SegmentAnalytics } from "@segment/analytics-node";
import { Analytics } from "../src/index.ts";
import { startServerProcess } from "./server-process.ts";

const ROUNDS = 7;
const CALLS = 10_000;
/** Calls in one turn of the event loop, as a request handler makes them; the libraries send between turns. */
const CALLS_A_TURN = 5;

interface Library {
  readonly name: string;
  readonly start: (endpoint: string) => { readonly track: (n: number) => void; readonly end: () => Promise<unknown> };
}

interface Cost {
  readonly callMicroseconds: number;
  readonly allMicroseconds: number;
}

const toCall = (n: number) => ({
  userId: `user-${n}`,
  event: "Order Completed",
  properties: { revenue: 39.95, sku: `A-${n}`, plan: "pro", items: 3 },
});

const ours: Library = {
  name: "@posthaste/client",
  start: (endpoint) => {
    const client = new Analytics({ writeKey: "KEY", endpoint, maxQueueBytes: 2 ** 30 });
    return { track: (n) => client.track(toCall(n)), end: () => client.close() };
  },
};

const theirs: Library = {
  name: "@segment/analytics-node",
  start: (endpoint) => {
    const client = new SegmentAnalytics({ writeKey: "KEY", host: endpoint });
    return { track: (n) => client.track(toCall(n)), end: () => client.closeAndFlush() };
  },
};

const server = await startServerProcess();
const costs = new Map<Library, Cost[]>([
  [ours, []],
  [theirs, []],
]);
// In turn, so that a disturbance of the machine meets both; the first round warms up and does not count.
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [library, measured] of costs) {
    const cost = await measure(library, server.url);
    if (round > 0) measured.push(cost);
  }
}
server.end();
for (const key of ["callMicroseconds", "allMicroseconds"] as const) {
  const [here, there] = [median(costs.get(ours), key), median(costs.get(theirs), key)];
  const label = key.replace("Microseconds", "").padEnd(5);
  console.log(
    `${label} ${ours.name} ${here.toFixed(2)} µs   ${theirs.name} ${there.toFixed(2)} µs   ratio ${(here / there).toFixed(2)}`,
  );
}

async function measure({ start }: Library, endpoint: string): Promise<Cost> {
  globalThis.gc?.();
  const { track, end } = start(endpoint);
  const cpuBefore = process.cpuUsage();
  let callMs = 0;
  for (let n = 0; n < CALLS; ) {
    const began = performance.now();
    for (let turn = 0; turn < CALLS_A_TURN; turn += 1, n += 1) track(n);
    callMs += performance.now() - began;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await end();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { callMicroseconds: (callMs * 1000) / CALLS, allMicroseconds: (user + system) / CALLS };
}

function median(measured: readonly Cost[] | undefined, key: keyof Cost): number {
  const sorted = (measured ?? []).map((cost) => cost[key]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
