/**
 * The receiver of the benchmarks, a process of its own: as little HTTP as answers a POST, so that it costs no more than
 * it must.
 *
 * The first letter of the path says how it answers: `/o…` 200 at once, `/s…` the same and counted apart, `/h…` 200
 * after ten seconds, `/f…` 503 at once. A message id that ends in `@` and a time (ms since the epoch, with a fraction)
 * gives the latency from then to here. Listens on every address, so that each of 127.0.0.0/8 is a host of its own.
 * Prints its port; then, for each line on its standard input, one line of JSON: the requests since the line before.
 */
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { SinkReport } from "./sink.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const UNAVAILABLE = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
const HANG_MS = 10_000;
/** Connections that may wait to be accepted: a thousand hosts are called at once. */
const BACKLOG = 4096;
const HEAD_END = Buffer.from("\r\n\r\n");

let report: SinkReport = emptyReport();
let connections = 0;

function emptyReport(): SinkReport {
  return { ok: 0, second: 0, hanging: 0, failing: 0, connections: 0, latenciesMs: [] };
}

interface ParsedRequest {
  readonly kind: string;
  readonly sentAtMs: number | null;
  readonly length: number;
}

/** The request at the buffer's start, or null while it is not all there. Every request has a content-length. */
function parseRequest(buffer: Buffer): ParsedRequest | null {
  const headEnd = buffer.indexOf(HEAD_END);
  if (headEnd === -1) return null;
  const head = buffer.toString("latin1", 0, headEnd);
  const bodyLength = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const length = headEnd + HEAD_END.length + bodyLength;
  if (buffer.length < length) return null;
  const sentAt = /x-message-id: [^\r]*@([\d.]+)/i.exec(head)?.[1];
  return { kind: head.charAt(head.indexOf(" ") + 2), sentAtMs: sentAt === undefined ? null : Number(sentAt), length };
}

function answer(socket: Socket, { kind, sentAtMs }: ParsedRequest): void {
  if (kind === "h") {
    report.hanging += 1;
    setTimeout(() => socket.write(OK), HANG_MS);
  } else if (kind === "f") {
    report.failing += 1;
    socket.write(UNAVAILABLE);
  } else if (kind === "s") {
    report.second += 1;
    socket.write(OK);
  } else {
    report.ok += 1;
    if (sentAtMs !== null) report.latenciesMs.push(performance.timeOrigin + performance.now() - sentAtMs);
    socket.write(OK);
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer = Buffer.alloc(0);
  connections += 1;
  socket.on("close", () => {
    connections -= 1;
  });
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (let request = parseRequest(pending); request !== null; request = parseRequest(pending)) {
      pending = pending.subarray(request.length);
      answer(socket, request);
    }
  });
});
server.listen({ port: 0, host: "0.0.0.0", backlog: BACKLOG }, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
const input = createInterface({ input: process.stdin });
input.on("line", () => {
  process.stdout.write(`${JSON.stringify({ ...report, connections })}\n`);
  report = emptyReport();
});
input.on("close", () => process.exit());
