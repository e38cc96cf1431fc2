import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { READ_PIECE_BYTES, READ_ROUND_BYTES } from "../limits.ts";
import { type BodyReader, createBodyReader } from "./read-body.ts";

const requestWith = (headers: IncomingHttpHeaders) => Object.assign(new Readable({ read() {} }), { headers });

/** More is there than is read at once. */
const pushPieces = (request: Readable, pieces: number) => {
  for (let piece = 0; piece < pieces; piece++) request.push(Buffer.alloc(READ_PIECE_BYTES, String(piece)));
  request.push(null);
};

const sendPieces = (bodies: BodyReader, pieces: number, headers: IncomingHttpHeaders) => {
  const request = requestWith(headers);
  pushPieces(request, pieces);
  return bodies.read(request, { source: "a", address: "" });
};

it.each<[string, IncomingHttpHeaders]>([
  ["whose length is announced", { "content-length": String(7 * READ_PIECE_BYTES) }],
  ["whose length is not", {}],
])("reads large bodies %s a round's part at a time, and a small one at once", async (_which, headers) => {
  const bodies = createBodyReader({ monotonicMs: () => 0 });
  const large = Array.from({ length: 4 }, () => sendPieces(bodies, 7, headers));
  // The bytes that are there of them are read before the next round.
  await new Promise<void>(process.nextTick);
  const small = sendPieces(bodies, 1, { "content-length": String(READ_PIECE_BYTES) });
  await small.content;
  // Of four bodies one more piece may come of each, since it is told when it was read.
  expect(bodies.heldBytes).toBeGreaterThanOrEqual(READ_ROUND_BYTES);
  expect(bodies.heldBytes).toBeLessThanOrEqual(READ_ROUND_BYTES + 5 * READ_PIECE_BYTES);
  for (const { content } of large) {
    const body = await content;
    const digits = "bytes" in body ? String(body.bytes).replaceAll(/(.)\1*/g, "$1") : "";
    expect(digits).toBe("0123456");
  }
  expect(Math.floor(bodies.heldBytes / READ_PIECE_BYTES)).toBe(29);
});

/** More than two rounds have turns for, where turns are waited for. */
const MANY_PIECES = (2 * READ_ROUND_BYTES) / READ_PIECE_BYTES;
const MANY = { "content-length": String(MANY_PIECES * READ_PIECE_BYTES) };

it("reads on what is refused without a turn, so that its sender is not reset before its answer", async () => {
  const bodies = createBodyReader({ monotonicMs: () => 0 });
  let rounds = 0;
  setImmediate(() => (rounds += 1));
  const { content } = sendPieces(bodies, MANY_PIECES, MANY);
  expect(await content).toMatchObject({ code: "request_too_large" });
  expect(rounds).toBe(0);
});

it("reads on what is cut off as too slow without a turn", async () => {
  let nowMs = 0;
  const bodies = createBodyReader({ monotonicMs: () => nowMs });
  const request = requestWith(MANY);
  const { content } = bodies.read(request, { source: "a", address: "" });
  nowMs = 10_000;
  bodies.sweep();
  expect(await content).toMatchObject({ code: "request_timeout" });
  let rounds = 0;
  setImmediate(() => (rounds += 1));
  pushPieces(request, MANY_PIECES);
  await once(request, "end");
  expect(rounds).toBe(0);
  expect(bodies.heldBytes).toBe(0);
});

it("RB1: counts what holds the pieces of a body, and not their bytes alone", async () => {
  const bodies = createBodyReader({ monotonicMs: () => 0 });
  const request = requestWith({});
  const held = bodies.read(request, { source: "a", address: "" });
  for (const byte of "abc") request.push(Buffer.from(byte));
  request.push(null);
  expect(await held.content).toMatchObject({ bytes: Buffer.from("abc") });
  expect(bodies.heldBytes).toBeGreaterThan(1_000);
  held.release();
  expect(bodies.heldBytes).toBe(0);
});
