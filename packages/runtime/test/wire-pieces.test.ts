import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { limitSockets } from "../src/socket-limits.ts";
import { BODY_CUT_TOO_SMALL, FREE_PIECES, FREE_WIRE_BYTES, LEAST_PIECE_BYTES } from "../src/wire-pieces.ts";

let server: Server;
let refused: string[];
afterEach(async () => {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
});

async function start(listener: RequestListener): Promise<void> {
  refused = [];
  server = createServer(listener);
  server.keepAliveTimeout = 60_000;
  limitSockets(server);
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    refused.push(code ?? "");
    socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

const HEAD = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
const END = "0\r\n\r\n";
const chunk = (bytes: number, extension = "") => `${bytes.toString(16)}${extension}\r\n${"x".repeat(bytes)}\r\n`;

/** Reads until the connection is closed: by the server, or once it is answered and there is nothing `then`. */
async function send(
  bytes: string,
  isAnswered: (said: string) => boolean = () => false,
  then: string | null = null,
): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let said = "";
  socket.on("error", () => {});
  socket.on("data", (piece: Buffer) => {
    said += String(piece);
    if (!isAnswered(said)) return;
    if (then === null) socket.end();
    else socket.write(then);
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once("close", resolve));
  return said;
}

/** Returns how many bytes came, and counts the pieces that do. */
function counting() {
  const seen = { pieces: 0, requests: 0 };
  const listener: RequestListener = (request, response) => {
    seen.requests += 1;
    request.on("data", () => (seen.pieces += 1));
    request.on("error", () => {});
    text(request).then(
      (body) => response.end(String(body.length)),
      () => {},
    );
  };
  return { seen, listener };
}

it("WP1, WP3: refuses a body of one-byte chunks at the first piece too many, and looks at no other of its read", async () => {
  const { seen, listener } = counting();
  await start(listener);
  const said = await send(HEAD + chunk(1).repeat(9_000) + END + (HEAD + END).repeat(100) + HEAD + chunk(100_000));
  expect(said).toMatch(/^HTTP\/1.1 400 /);
  expect(refused).toEqual([BODY_CUT_TOO_SMALL]);
  expect(seen.pieces).toBeLessThanOrEqual(FREE_PIECES);
  expect(seen.requests).toBe(1);
  // The parser that was stopped serves the next connection.
  expect(await send(HEAD + chunk(5) + END, (answer) => answer.endsWith("5"))).toMatch(/^HTTP\/1.1 200 /);
});

it("WP1: takes a body in many chunks of some size, and one short body in bytes after another", async () => {
  await start(counting().listener);
  const many = HEAD + chunk(LEAST_PIECE_BYTES).repeat(2_000) + END;
  expect(await send(many, (answer) => answer.endsWith(String(2_000 * LEAST_PIECE_BYTES)))).toMatch(/^HTTP\/1.1 200 /);
  const short = HEAD + chunk(1).repeat(FREE_PIECES) + END;
  expect(await send(short + short, (answer) => answer.split(" 200 ").length === 3)).toMatch(/^HTTP\/1.1 200 /);
  expect(refused).toEqual([]);
});

it("WP2: refuses a body whose chunks have more in extensions than in bytes", async () => {
  await start(counting().listener);
  const extended = chunk(LEAST_PIECE_BYTES, `;e=${"x".repeat(10_000)}`);
  expect(await send(HEAD + extended.repeat(200) + END)).toMatch(/^HTTP\/1.1 400 /);
  expect(refused).toEqual([BODY_CUT_TOO_SMALL]);
  const little = chunk(LEAST_PIECE_BYTES, `;e=${"x".repeat(20)}`).repeat((2 * FREE_WIRE_BYTES) / LEAST_PIECE_BYTES);
  expect(await send(HEAD + little + END, (answer) => answer.endsWith(String(2 * FREE_WIRE_BYTES)))).toContain(" 200 ");
});

it("WP4: closes the connection of a request that was answered and goes on in bytes, without another answer", async () => {
  await start((_request: IncomingMessage, response) => response.write("early") && response.end());
  const said = await send(HEAD, (answer) => answer.endsWith("early\r\n0\r\n\r\n"), chunk(1).repeat(10_000));
  expect(said).toMatch(/^HTTP\/1.1 200 [\s\S]*early\r\n0\r\n\r\n$/);
  expect(refused).toEqual([]);
});
