import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ByteProxy, openByteProxy } from "./byte-proxy.ts";
import { eventually } from "./eventually.ts";

let upstream: Server;
let proxy: ByteProxy;

/** Says back the bytes that it gets. */
beforeEach(async () => {
  upstream = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, "127.0.0.1", resolve);
  });
  const address = upstream.address();
  proxy = await openByteProxy(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
});
afterEach(async () => {
  await proxy.close();
  upstream.close();
});

function call() {
  const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes;
  });
  socket.on("error", () => {});
  return { socket, received: () => received };
}

it("BY1: what is held up passes when it is released, in order", async () => {
  const { socket, received } = call();
  socket.write("one ");
  await eventually(() => expect(received()).toBe("one "));
  proxy.hold();
  socket.write("two ");
  const later = call();
  later.socket.write("three");
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([received(), later.received()]).toEqual(["one ", ""]);
  proxy.release();
  await eventually(() => expect([received(), later.received()]).toEqual(["one two ", "three"]));
});

it("BY2: a connection is cut on both sides", async () => {
  const { socket, received } = call();
  const [atUpstream] = (await once(upstream, "connection")) as [import("node:net").Socket];
  socket.write("one");
  await eventually(() => expect(received()).toBe("one"));
  proxy.cut();
  await eventually(() => expect([socket.destroyed, atUpstream.destroyed]).toEqual([true, true]));
});
