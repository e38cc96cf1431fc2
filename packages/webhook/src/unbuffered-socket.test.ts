import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, expect, it } from "vitest";
import { UnbufferedSocket } from "./unbuffered-socket.ts";

const open: { destroy(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** A connected pair: the tested socket, and the far end. */
async function connect(): Promise<{ socket: UnbufferedSocket; far: Socket }> {
  const server = createServer();
  open.push({ destroy: () => server.close() });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const socket = new UnbufferedSocket({});
  socket.connect({ host: "127.0.0.1", port });
  const [far] = await accepted;
  open.push(socket, far);
  return { socket, far };
}

/** Reads as undici does: all there is, whenever there is something. */
function readAll(socket: UnbufferedSocket): Buffer[] {
  const chunks: Buffer[] = [];
  socket.on("readable", () => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) chunks.push(chunk as Buffer);
  });
  return chunks;
}

const textOf = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString("latin1");

it("brings every byte, in order, and says when the far end has ended", async () => {
  const { socket, far } = await connect();
  const chunks = readAll(socket);
  const ended = once(socket, "end");
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
  far.end(sent);
  await ended;
  expect(Buffer.concat(chunks).equals(sent)).toBe(true);
});

it("gives chunks that later reads, of this socket or another, leave as they are (US2)", async () => {
  const [one, two] = [await connect(), await connect()];
  const chunks = readAll(one.socket);
  const others = readAll(two.socket);
  one.far.write("first");
  await eventually(() => expect(textOf(chunks)).toBe("first"));
  two.far.write("other");
  await eventually(() => expect(textOf(others)).toBe("other"));
  one.far.write("second");
  await eventually(() => expect(textOf(chunks)).toBe("firstsecond"));
});

it("keeps what its listener left, and brings what came behind it after it (US1)", async () => {
  const { socket, far } = await connect();
  let isReading = false;
  const chunks: Buffer[] = [];
  socket.on("readable", () => {
    for (let chunk = isReading ? socket.read() : null; chunk !== null; chunk = socket.read())
      chunks.push(chunk as Buffer);
  });
  const sent = Buffer.from(Array.from({ length: 500_000 }, (_, at) => at % 241));
  far.end(sent);
  await eventually(() => expect(socket.readableLength).toBeGreaterThan(0));
  isReading = true;
  const ended = once(socket, "end");
  socket.emit("readable");
  await ended;
  expect(Buffer.concat(chunks).equals(sent)).toBe(true);
});

it("reads again what its reader put back, before what comes next", async () => {
  const { socket, far } = await connect();
  const chunks: Buffer[] = [];
  let hasPutBack = false;
  socket.on("readable", () => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      if (hasPutBack) chunks.push(chunk);
      else socket.unshift(chunk);
      hasPutBack = true;
    }
  });
  far.write("one ");
  await eventually(() => expect(textOf(chunks)).toBe("one "));
  far.write("two");
  await eventually(() => expect(textOf(chunks)).toBe("one two"));
});
