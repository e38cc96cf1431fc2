/**
 * A server for benchmarks: takes batches, fails some requests when it is told to, counts the calls by `properties.n`.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const failEvery = Number(process.argv[2]);
/** One bit a call: a set of a million strings would be the benchmark's largest part. */
const arrived = new Uint8Array(1 << 20);
const counted = { requests: 0, failedRequests: 0, calls: 0 };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    counted.requests += 1;
    if (failEvery > 0 && counted.requests % failEvery === 0) {
      counted.failedRequests += 1;
      if (counted.failedRequests % 2 === 0) request.socket.destroy();
      else response.writeHead(503).end();
      return;
    }
    if (failEvery > 0) countCalls(Buffer.concat(chunks).toString("utf8"));
    response.setHeader("content-type", "application/json").end('{"success": true}');
  });
});

function countCalls(body: string): void {
  const { batch }: { batch: readonly { properties: { n: number } }[] } = JSON.parse(body);
  for (const { properties } of batch) {
    const index = properties.n >> 3;
    const bit = 1 << (properties.n & 7);
    const byte = arrived[index] ?? 0;
    if ((byte & bit) === 0) counted.calls += 1;
    arrived[index] = byte | bit;
  }
}

server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on("message", () => process.send?.(counted));
process.on("disconnect", () => process.exit(0));
