/**
 * Makes 1,000,000 calls against a server that fails one request in ten, and ends with an error unless each call was
 * delivered or handed to `onError`, exactly once, within 150 MB of heap.
 *
 *     npm run soak [calls]
 */
import { Analytics } from "../src/index.ts";
import { startServerProcess } from "./server-process.ts";

const CALLS = Number(process.argv[2] ?? 1_000_000);
const CALLS_A_TURN = 50;
/** So often the program waits for its calls, as an import of historical data would. */
const CALLS_A_FLUSH = 20_000;
const MAX_HEAP_MB = 150;

const server = await startServerProcess(10);
let delivered = 0;
let handed = 0;
const client = new Analytics({
  writeKey: "KEY",
  endpoint: server.url,
  flushAt: 100,
  onSuccess: (messages) => {
    delivered += messages.length;
  },
  onError: (_error, messages) => {
    handed += messages.length;
  },
});
let peakMb = 0;
const began = performance.now();
for (let n = 0; n < CALLS; ) {
  for (let turn = 0; turn < CALLS_A_TURN && n < CALLS; turn += 1, n += 1) {
    client.track({ userId: "user-1", event: "E", properties: { n, plan: "pro" } });
  }
  peakMb = Math.max(peakMb, process.memoryUsage().heapUsed / 2 ** 20);
  if (n % CALLS_A_FLUSH === 0) await client.flush();
  else await new Promise((resolve) => setImmediate(resolve));
}
await client.close();
const seconds = (performance.now() - began) / 1000;
const { requests, failedRequests, calls } = await server.count();
server.end();
console.log(
  `${CALLS} calls in ${seconds.toFixed(1)} s: ${delivered} delivered, ${handed} handed to onError; ` +
    `${calls} reached the server in ${requests} requests, ${failedRequests} of them failed; heap at most ${peakMb.toFixed(0)} MB`,
);
if (delivered + handed !== CALLS || calls !== delivered || peakMb > MAX_HEAP_MB) {
  console.error("calls were lost, or memory was not bounded");
  process.exitCode = 1;
}
