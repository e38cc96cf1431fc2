/**
 * A stranger as a process of its own: plays a stream at a port until its parent disconnects. All of its connections
 * together send at most `BYTES_A_SECOND`.
 */
import { connect, type Socket } from "node:net";
import { bytesOf, type Stream } from "./stream.ts";

export interface Orders {
  readonly port: number;
  readonly heads: readonly string[];
  readonly stream: Stream;
}

const BYTES_A_SECOND = 10_000_000;
const TICK_MS = 5;
/** What may be sent at once is what comes together in a tenth of a second. */
const MOST_AT_ONCE = BYTES_A_SECOND / 10;
/** A connection that does not take more waits. */
const MOST_BUFFERED = 128 * 1024;

interface Connection {
  readonly socket: Socket;
  readonly bytes: Generator<Buffer>;
  readonly sinceMs: number;
  nextAtMs: number;
  isOver: boolean;
}

let orders: Orders | undefined;
let allowance = 0;
let connections: Connection[] = [];

function open({ port, heads, stream }: Orders): Connection {
  const socket = connect({ port, host: "127.0.0.1" });
  const sinceMs = performance.now();
  const connection = { socket, bytes: bytesOf(stream, heads), sinceMs, nextAtMs: 0, isOver: false };
  const end = () => {
    connection.isOver = true;
    socket.destroy();
  };
  socket.on("error", end).on("close", end);
  if (stream.reads) socket.on("end", end).resume();
  return connection;
}

function tick(): void {
  if (orders === undefined) return;
  const { stream } = orders;
  allowance = Math.min(MOST_AT_ONCE, allowance + (BYTES_A_SECOND * TICK_MS) / 1000);
  const nowMs = performance.now();
  for (const each of connections) if (nowMs - each.sinceMs > stream.leavesAfterMs) each.socket.destroy();
  connections = connections.filter(({ isOver, socket }) => !isOver && !socket.destroyed);
  while (connections.length < stream.connections) connections.push(open(orders));
  let wrote = true;
  while (wrote && allowance > 0) {
    wrote = false;
    for (const each of connections) {
      if (allowance <= 0) break;
      if (each.isOver || nowMs < each.nextAtMs || each.socket.writableLength > MOST_BUFFERED) continue;
      const { value, done } = each.bytes.next();
      if (done === true) {
        each.nextAtMs = Number.POSITIVE_INFINITY;
        continue;
      }
      allowance -= value.length;
      each.socket.write(value);
      if (stream.pauseMs > 0) each.nextAtMs = nowMs + stream.pauseMs;
      wrote = true;
    }
  }
}

setInterval(tick, TICK_MS);
process.on("message", (given: Orders) => {
  orders = given;
});
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
