/**
 * A hostile receiver as a process of its own: answers each request with a stream. All of its connections together send
 * at most `BYTES_A_SECOND`. It tells its parent its port, takes orders again and again, and ends with its parent.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { bytesOf, type Stream } from "./stream.ts";

export interface Answers {
  readonly heads: readonly string[];
  readonly stream: Stream;
}

const BYTES_A_SECOND = 10_000_000;
const TICK_MS = 5;
const MOST_AT_ONCE = BYTES_A_SECOND / 10;
const MOST_BUFFERED = 128 * 1024;

interface Answering {
  readonly socket: Socket;
  readonly bytes: Generator<Buffer>;
  readonly leavesAtMs: number;
  nextAtMs: number;
}

let orders: Answers | undefined;
let allowance = 0;
const answering = new Map<Socket, Answering>();

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => answering.delete(socket));
  socket.on("data", () => {
    // The rest of a request whose answer has begun.
    if (orders === undefined || answering.has(socket)) return;
    const { stream, heads } = orders;
    const leavesAtMs = performance.now() + stream.leavesAfterMs;
    answering.set(socket, { socket, bytes: bytesOf(stream, heads), leavesAtMs, nextAtMs: 0 });
  });
});

function tick(): void {
  allowance = Math.min(MOST_AT_ONCE, allowance + (BYTES_A_SECOND * TICK_MS) / 1000);
  const nowMs = performance.now();
  const pauseMs = orders?.stream.pauseMs ?? 0;
  let wrote = true;
  while (wrote && allowance > 0) {
    wrote = false;
    for (const each of answering.values()) {
      const { socket, bytes } = each;
      if (nowMs > each.leavesAtMs) socket.destroy();
      if (socket.destroyed || allowance <= 0 || nowMs < each.nextAtMs || socket.writableLength > MOST_BUFFERED)
        continue;
      const { value, done } = bytes.next();
      if (done === true) answering.delete(socket);
      if (value === undefined || done === true) continue;
      allowance -= value.length;
      socket.write(value);
      if (pauseMs > 0) each.nextAtMs = nowMs + pauseMs;
      wrote = true;
    }
  }
}

setInterval(tick, TICK_MS);
process.on("message", (given: Answers) => {
  orders = given;
  for (const socket of answering.keys()) socket.destroy();
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
