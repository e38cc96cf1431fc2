import { once } from "node:events";
import { Agent, get } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { createTopicNames } from "@posthaste/contracts/topics";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { boundAnswers } from "./answer-bounds.ts";
import { createOpenCodec } from "./registry.ts";

let server: Server;
let answer: (socket: Socket) => void;
let connections: number;
let received: number;
beforeEach(async () => {
  [connections, received] = [0, 0];
  server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {});
    socket.on("data", () => answer(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  vi.useRealTimers();
  server.close();
});

const urlOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const bounds = { maxBytes: 10_000, deadlineMs: 60_000, who: "the server" };

async function ask(agent: Agent): Promise<string> {
  const request = get(urlOf(), { agent });
  request.on("error", () => {});
  const [response] = await once(request, "response");
  response.on("data", (piece: Buffer) => (received += piece.length));
  return text(response);
}

/** Writes for as long as the other side reads. */
function writeForEver(socket: Socket, piece: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", write);
  write();
}

const PIECE_BYTES = 4 * 1024;
const OK = "HTTP/1.1 200 OK\r\n";

it.each([
  ["body", `${OK}Content-Length: 99999999\r\n\r\n`, "x".repeat(1_000)],
  ["body of one-byte chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n"],
  ["chunk extension", `${OK}Transfer-Encoding: chunked\r\n\r\n1;e=`, "x"],
  ["row of interim answers", "", "HTTP/1.1 103 Early Hints\r\n\r\n"],
])("RG1, RG3: an endless %s ends with what may come of it", async (_what, head, piece) => {
  answer = (socket) => {
    socket.write(head);
    writeForEver(socket, piece.repeat(20));
  };
  const bounded = boundAnswers(new Agent(), bounds);
  await expect(ask(bounded.agent)).rejects.toThrow();
  expect(bounded.broken).toContain("the server answers with more than 10000 bytes");
  expect(received).toBeLessThanOrEqual(10_000 + PIECE_BYTES);
});

it("RG4: an answer comes whole, in pieces of 4 KB, one in a turn of the event loop", async () => {
  const body = Array.from({ length: 20_000 }, (_, at) => String(at)).join();
  answer = (socket) => socket.end(`${OK}Content-Length: ${body.length}\r\n\r\n${body}`);
  const { agent } = boundAnswers(new Agent(), { ...bounds, maxBytes: 1_000_000 });
  let [turn, isOver] = [0, false];
  const pieces: { readonly turn: number; readonly bytes: number }[] = [];
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const connect = agent.createConnection;
  agent.createConnection = (...args) => {
    const socket = connect.apply(agent, args) as Socket;
    return socket.on("data", ({ length: bytes }: Buffer) => pieces.push({ turn, bytes }));
  };
  expect(await ask(agent)).toBe(body);
  isOver = true;
  expect(Math.max(...pieces.map(({ bytes }) => bytes))).toBeLessThanOrEqual(4_096);
  expect(new Set(pieces.map((piece) => piece.turn)).size).toBe(pieces.length);
});

it("RG1: each answer on a connection that is kept has its own bound", async () => {
  const body = "x".repeat(9_000);
  answer = (socket) => socket.write(`${OK}Content-Length: ${body.length}\r\n\r\n${body}`);
  const { agent } = boundAnswers(new Agent({ keepAlive: true, maxSockets: 1 }), bounds);
  for (let time = 0; time < 5; time++) expect(await ask(agent)).toBe(body);
  expect(connections).toBe(1);
  agent.destroy();
});

it("RG2: an answer that trickles is ended in time, and one that came is not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  answer = (socket) => socket.write(`${OK}Content-Length: 2\r\n\r\nx`);
  const bounded = boundAnswers(new Agent({ keepAlive: true, maxSockets: 1 }), { ...bounds, deadlineMs: 5_000 });
  const { agent } = bounded;
  const refused = expect(ask(agent)).rejects.toThrow();
  await vi.waitFor(() => expect(received).toBe(1));
  vi.advanceTimersByTime(5_000);
  await refused;
  expect(bounded.broken).toBe("the server did not end its answer within 5000 ms");
  answer = (socket) => socket.write(`${OK}Content-Length: 2\r\n\r\nxx`);
  expect(await ask(agent)).toBe("xx");
  expect(bounded.broken).toBeNull();
  vi.advanceTimersByTime(60_000);
  expect(await ask(agent)).toBe("xx");
  expect(connections).toBe(2);
  agent.destroy();
});

it("a schema registry that answers without end is said to do so while a codec waits for it", async () => {
  answer = (socket) => writeForEver(socket, `${OK}\r\n${"x".repeat(100_000)}`);
  const reason = Promise.withResolvers<string>();
  const log: Log = { ...SILENT_LOG, warn: (fields) => reason.resolve(String(fields["reason"])) };
  const ending = new AbortController();
  const opened = createOpenCodec({ url: urlOf(), names: createTopicNames("t"), log, signal: ending.signal })("event");
  opened.catch(() => {});
  expect(await reason.promise).toMatch(/the schema registry answers with more than 1048576 bytes/);
  ending.abort();
});
