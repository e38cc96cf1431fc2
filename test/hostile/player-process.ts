/**
 * Plays a stream as a process of its own until its parent disconnects: on connections to a port, or as the answers of
 * a receiver, whose port it tells its parent. All of its connections together send at most `BYTES_A_SECOND`. It gives
 * way to the processes that are measured, on a machine with few processors.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { constants, setPriority } from "node:os";
import { bytesOf, type Stream } from "./stream.ts";

export interface Orders {
  /** Where to connect; a receiver answers whoever asks. */
  readonly port?: number;
  readonly heads: readonly string[];
  readonly stream: Stream;
}

/** The bytes and connections played since the last orders. */
export interface Played {
  readonly bytes: number;
  readonly connections: number;
}

const BYTES_A_SECOND = 10_000_000;
const TICK_MS = 5;
/** A burst has at most the bytes of a tenth of a second. */
const MOST_AT_ONCE = BYTES_A_SECOND / 10;
/** Another address than the neighbour's: an address is bounded as a whole, and an honest sender of it with it. */
const STRANGER = "127.0.0.2";
/** How long a slow reader waits between two reads. */
const SLOW_READ_MS = 200;
/** A connection that does not take more waits. */
const MOST_BUFFERED = 128 * 1024;

interface Playing {
  readonly bytes: Generator<Buffer>;
  readonly leavesAtMs: number;
  nextAtMs: number;
}

let orders: Orders | undefined;
let allowance = 0;
let played = { bytes: 0, connections: 0 };
const playing = new Map<Socket, Playing>();

function begin(socket: Socket): void {
  if (orders === undefined || playing.has(socket)) return;
  const { stream, heads } = orders;
  const leavesAtMs = performance.now() + stream.leavesAfterMs;
  played.connections += 1;
  playing.set(socket, { bytes: bytesOf(stream, heads), leavesAtMs, nextAtMs: 0 });
}

function leave(socket: Socket): void {
  playing.delete(socket);
  socket.destroy();
}

function watch(socket: Socket): Socket {
  return socket
    .setNoDelay(true)
    .on("error", () => leave(socket))
    .on("close", () => leave(socket));
}

function openAll({ port, stream }: Orders): void {
  while (port !== undefined && playing.size < stream.connections) {
    const socket = watch(connect({ port, host: "127.0.0.1", localAddress: STRANGER }));
    read(socket, stream.reads);
    begin(socket);
  }
}

function read(socket: Socket, how: Stream["reads"]): void {
  if (how === "never") return;
  socket.on("end", () => leave(socket)).resume();
  if (how === "at once") return;
  socket.on("data", () => {
    socket.pause();
    setTimeout(() => socket.resume(), SLOW_READ_MS);
  });
}

/** Answers whether anything was written. */
function write(socket: Socket, each: Playing, pauseMs: number): boolean {
  const nowMs = performance.now();
  if (nowMs > each.leavesAtMs) leave(socket);
  if (socket.destroyed || nowMs < each.nextAtMs || socket.writableLength > MOST_BUFFERED) return false;
  const { value, done } = each.bytes.next();
  if (done === true) {
    // A receiver waits for the next request; who connected stays until it leaves.
    each.nextAtMs = Number.POSITIVE_INFINITY;
    if (orders?.port === undefined) playing.delete(socket);
    return false;
  }
  allowance -= value.length;
  played.bytes += value.length;
  socket.write(value);
  if (pauseMs > 0) each.nextAtMs = nowMs + pauseMs;
  return true;
}

function tick(): void {
  if (orders === undefined) return;
  allowance = Math.min(MOST_AT_ONCE, allowance + (BYTES_A_SECOND * TICK_MS) / 1000);
  openAll(orders);
  for (let wrote = true; wrote && allowance > 0; ) {
    wrote = false;
    for (const [socket, each] of playing) {
      if (allowance > 0 && write(socket, each, orders.stream.pauseMs)) wrote = true;
    }
  }
}

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
setInterval(tick, TICK_MS);
process.on("message", (given: Orders | "rest") => {
  if (given === "rest") process.send?.(played);
  orders = given === "rest" ? undefined : given;
  played = { bytes: 0, connections: 0 };
  for (const socket of playing.keys()) leave(socket);
});
process.on("disconnect", () => process.exit(0));
const server = createServer((socket) => watch(socket).on("data", () => begin(socket)));
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
