import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MAX_HEADER_LINES, TOO_MANY_HEADER_LINES } from "../src/header-lines.ts";
import { limitSockets } from "../src/socket-limits.ts";

let server: Server;
let requests: IncomingMessage[];
let refused: string[];

beforeEach(async () => {
  [requests, refused] = [[], []];
  server = createServer((request, response) => {
    requests.push(request);
    request.resume().once("end", () => response.end("served"));
  });
  server.keepAliveTimeout = 60_000;
  limitSockets(server);
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    refused.push(code ?? "");
    socket.end("HTTP/1.1 431 Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(async () => {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
});

const lines = (count: number) => Array.from({ length: count }, (_, at) => `x-${at}: h\r\n`).join("");
const headOf = (count: number, more = "") => `POST / HTTP/1.1\r\nHost: x\r\n${more}${lines(count - 1)}\r\n`;

/** Reads until the server closes the connection, or has served a request. */
async function send(bytes: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let said = "";
  socket.on("error", () => {});
  socket.on("data", (piece: Buffer) => {
    said += String(piece);
    if (said.endsWith("served")) socket.destroy();
  });
  socket.write(bytes);
  await once(socket, "close");
  return said;
}

it("HL1: makes a request of a head with as many lines as it may have", async () => {
  expect(await send(headOf(MAX_HEADER_LINES))).toMatch(/^HTTP\/1.1 200 /);
  expect(requests.map(({ rawHeaders }) => rawHeaders.length / 2)).toEqual([MAX_HEADER_LINES]);
});

it("HL1: refuses a head with one line more, before a request is made of it, and parses nothing behind it", async () => {
  expect(await send(headOf(MAX_HEADER_LINES + 1) + headOf(1))).toMatch(/^HTTP\/1.1 431 /);
  expect([refused, requests.length]).toEqual([[TOO_MANY_HEADER_LINES], 0]);
  // The parser that was stopped serves the next connection.
  expect(await send(headOf(40))).toMatch(/^HTTP\/1.1 200 /);
});

it("HL1: refuses a head that goes on without an end", async () => {
  expect(await send(`POST / HTTP/1.1\r\nHost: x\r\n${lines(1_000)}`)).toMatch(/^HTTP\/1.1 431 /);
  expect(requests).toHaveLength(0);
});

it("HL1: closes a connection with too many trailers, whose request is not ended", async () => {
  const chunked = headOf(1, "Transfer-Encoding: chunked\r\n");
  expect(await send(`${chunked}0\r\n${lines(MAX_HEADER_LINES + 1)}\r\n`)).toBe("");
  expect(requests.map(({ complete }) => complete)).toEqual([false]);
  expect(await send(`${chunked}0\r\n${lines(MAX_HEADER_LINES)}\r\n`)).toMatch(/^HTTP\/1.1 200 /);
});
