import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { DEFAULT_SOCKET_LIMITS, type LimitedSockets, limitSockets, type SocketLimits } from "../src/socket-limits.ts";

let server: Server | undefined;
let sockets: Socket[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await new Promise<void>((resolve) => {
    if (server === undefined) return resolve();
    server.close(() => resolve());
    server.closeAllConnections();
  });
});

/** `vi.waitFor` waits a second by itself. */
const PATIENCE_MS = 30_000;
const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

async function start(listener: RequestListener, limits: Partial<SocketLimits>): Promise<LimitedSockets["letLast"]> {
  server = createServer(listener);
  // Only one of the bounds ends a connection here.
  server.keepAliveTimeout = 60_000;
  const { letLast } = limitSockets(server, { ...DEFAULT_SOCKET_LIMITS, checkMs: 20, ...limits });
  await new Promise<void>((resolve) => {
    server?.listen(0, "127.0.0.1", resolve);
  });
  return letLast;
}

/** A connection that reads nothing until it is told to. */
async function open(): Promise<Socket> {
  const address = server?.address() as AddressInfo;
  const socket = connect(address.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  await new Promise<void>((resolve) => {
    socket.once("connect", resolve);
  });
  return socket;
}
const openConnections = () =>
  new Promise<number>((resolve) => {
    server?.getConnections((_error, count) => resolve(count));
  });

/** Looked at on the server's side: a client that does not read does not see that it was cut off. */
const eventuallyOpen = (count: number) =>
  vi.waitFor(async () => expect(await openConnections()).toBe(count), PATIENCE_MS);

it("SL1: cuts off who sends request after request, one a read, while none is answered", async () => {
  await start(() => {}, { maxOpenRequests: 16 });
  const socket = await open();
  for (let time = 0; time < 17; time++) {
    const came = once(server as Server, "request");
    socket.write(GET);
    await came;
  }
  await eventuallyOpen(0);
});

it("SL1: cuts off who sends many requests in one read, though each is answered as it comes", async () => {
  const handled: string[] = [];
  const listener: RequestListener = ({ url = "" }, response) => {
    handled.push(url);
    response.end("x");
  };
  await start(listener, { maxOpenRequests: 16 });
  const socket = await open();
  await eventuallyOpen(1);
  // Node lets answers end between two heads that have more than 32 lines.
  const lines = Array.from({ length: 100 }, (_, at) => `x-${at}: h\r\n`).join("");
  socket.write(GET.replace("\r\n\r\n", `\r\n${lines}\r\n`).repeat(60));
  await eventuallyOpen(0);
  expect(handled).toHaveLength(17);
});

it("SL1: lets as many requests as anybody has at once be answered", async () => {
  await start((_request, response) => response.end("x"), { maxOpenRequests: 16 });
  const socket = await open();
  let received = "";
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
      if (received.split("HTTP/1.1 200").length === 17) resolve();
    });
  });
  socket.write(GET.repeat(16));
  await answered;
});

it("SL4: the connection that has been idle longest makes room, and none on which something is asked", async () => {
  const asked: ServerResponse[] = [];
  await start((_request, response) => asked.push(response), { maxConnections: 3 });
  const [busy, first, second] = [await open(), await open(), await open()];
  busy.write(GET);
  await vi.waitFor(() => expect(asked).toHaveLength(1), PATIENCE_MS);
  // It has been idle since its answer only.
  first.write(GET);
  await vi.waitFor(() => expect(asked).toHaveLength(2), PATIENCE_MS);
  const answered = once(first, "data");
  asked[1]?.end("x");
  await answered;
  const closed: Socket[] = [];
  for (const socket of [busy, first, second]) socket.resume().once("close", () => closed.push(socket));
  await open();
  await vi.waitFor(() => expect(closed).toEqual([second]), PATIENCE_MS);
  await open();
  await vi.waitFor(() => expect(closed).toEqual([second, first]), PATIENCE_MS);
  await eventuallyOpen(3);
});

it("SL2: cuts off who does not read an answer to its end", async () => {
  await start((_request, response) => response.end(Buffer.alloc(20_000_000)), { exchangeMs: 200 });
  const socket = await open();
  await eventuallyOpen(1);
  socket.write(GET);
  await eventuallyOpen(0);
});

it("SL5: lets a request last that it is told to, and that one alone", async () => {
  const limits: Partial<SocketLimits> = { exchangeMs: 500, idleMs: 1500 };
  const answers: string[] = [];
  const letLast = await start(({ url }, response) => {
    answers.push(url ?? "");
    if (url === "/long") setTimeout(() => response.end("x"), 3000);
  }, limits);
  server?.prependListener("request", (request) => {
    if (request.url === "/long") letLast(request);
  });
  const [long, short] = [await open(), await open()];
  let received = "";
  long.on("data", (chunk: Buffer) => {
    received += chunk.toString();
  });
  long.write("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
  short.write(GET);
  await eventuallyOpen(1);
  await vi.waitFor(() => expect(received).toMatch(/^HTTP\/1.1 200/), PATIENCE_MS);
  expect(answers.sort()).toEqual(["/", "/long"]);
  // A later request on the same connection has no more time than others.
  long.write(GET);
  await eventuallyOpen(0);
});

/** The requests whose time the test has pass by itself, each with its response; the machine may stand still. */
async function startTimed(exchangeMs: number): Promise<readonly ServerResponse[]> {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] });
  const responses: ServerResponse[] = [];
  await start((_request, response) => responses.push(response), { exchangeMs });
  return responses;
}

const eventuallyAsked = (responses: readonly ServerResponse[], count: number) =>
  expect.poll(() => responses.length).toBe(count);

/** Resolves when the server holds the request to be over. */
async function answer(response: ServerResponse | undefined): Promise<void> {
  if (response === undefined) throw new Error("there is no such request");
  const closed = once(response, "close");
  response.end("x");
  await closed;
}

it("SL2: gives each request its time, however old its connection is", async () => {
  const responses = await startTimed(400);
  const socket = await open();
  socket.resume();
  for (let time = 0; time < 8; time++) {
    socket.write(GET);
    await eventuallyAsked(responses, time + 1);
    vi.advanceTimersByTime(300);
    await answer(responses[time]);
  }
  expect(responses.map(({ socket: of }) => of?.destroyed ?? false)).not.toContain(true);
  expect(socket.destroyed).toBe(false);
});

it("SL2: gives a request that waited behind another its time from the other's end on", async () => {
  const responses = await startTimed(1_000);
  const socket = await open();
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.write(GET + GET);
  await eventuallyAsked(responses, 2);
  for (const response of responses) {
    vi.advanceTimersByTime(700);
    await answer(response);
  }
  await expect.poll(() => received.split("HTTP/1.1 200").length).toBe(3);
});

it("SL2: cuts off no connection on which no request is open, however long ago its last one was", async () => {
  const responses = await startTimed(40);
  const socket = await open();
  socket.resume();
  for (let time = 0; time < 2; time++) {
    socket.write(GET);
    await eventuallyAsked(responses, time + 1);
    await answer(responses[time]);
    // Some looks of the server for requests that are over their time.
    vi.advanceTimersByTime(150);
  }
  expect([socket.destroyed, await openConnections()]).toEqual([false, 1]);
});

it("SL3, SL5: cuts off a connection on which nothing moves behind a request that was let last", async () => {
  const letLast = await start(
    ({ url }, response) => {
      if (url === "/long") setTimeout(() => response.end("x"), 500);
    },
    { idleMs: 200 },
  );
  server?.prependListener("request", (request) => {
    if (request.url === "/long") letLast(request);
  });
  const socket = await open();
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString();
  });
  socket.write(`GET /long HTTP/1.1\r\nHost: x\r\n\r\n${GET}`);
  await eventuallyOpen(1);
  await eventuallyOpen(0);
  expect(received).toMatch(/^HTTP\/1.1 200/);
});

/** Two requests in one write, of which the handler of the second lets it last. */
async function startPipelined(limits: Partial<SocketLimits>): Promise<readonly ServerResponse[]> {
  vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] });
  const responses: ServerResponse[] = [];
  const letLast = await start((_request, response) => responses.push(response), limits);
  server?.prependListener("request", (request) => {
    if (request.url === "/long") letLast(request);
  });
  const socket = await open();
  socket.resume();
  socket.write(`${GET}GET /long HTTP/1.1\r\nHost: x\r\n\r\n`);
  await eventuallyAsked(responses, 2);
  return responses;
}

it("SL5: lets a request last behind another one, which ends before", async () => {
  const [first, long] = await startPipelined({ exchangeMs: 400, idleMs: 60_000 });
  const idleMs = () => long?.req.socket.timeout;
  expect(idleMs()).toBe(60_000);
  await answer(first);
  vi.advanceTimersByTime(2_000);
  expect([long?.req.socket.destroyed, idleMs()]).toEqual([false, 0]);
  await answer(long);
});

it("SL2, SL5: cuts off a request that takes too long, however long the one behind it may last", async () => {
  const [first] = await startPipelined({ exchangeMs: 400 });
  vi.advanceTimersByTime(2_000);
  expect(first?.req.socket.destroyed).toBe(true);
});

it("SL3: cuts off a connection on which nothing moves", async () => {
  await start(() => {}, { idleMs: 200 });
  const socket = await open();
  await eventuallyOpen(1);
  socket.write(GET);
  await eventuallyOpen(0);
});

it("SL4: has so many connections and no more, each for so many requests", async () => {
  const asked: ServerResponse[] = [];
  await start((_request, response) => asked.push(response), { maxConnections: 2, maxRequests: 1 });
  const [socket, other] = [await open(), await open()];
  for (const each of [socket, other]) each.write(GET);
  await vi.waitFor(() => expect(asked).toHaveLength(2), PATIENCE_MS);
  await once((await open()).resume(), "close");
  await eventuallyOpen(2);
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString();
  });
  for (const response of asked) response.end("x");
  await vi.waitFor(() => expect(received).toMatch(/^HTTP\/1.1 200 [\s\S]*Connection: close/), PATIENCE_MS);
  socket.write(GET);
  await vi.waitFor(() => expect(received).toContain("HTTP/1.1 503 "), PATIENCE_MS);
});
