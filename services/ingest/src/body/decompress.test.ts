import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { SAYS_TOO_MUCH } from "../answer/answer.ts";
import { CROWD_INFLATED_BYTES, MAX_REQUEST_BYTES } from "../limits.ts";
import { createBodyOpener, GONE } from "./decompress.ts";
import { mostOfBrotli } from "./inflated-body.ts";

const sent = (text: string) => ({ bytes: gzipSync(text) as Buffer | null, encoding: "gzip" });

it("a body that is opened twice in a row is inflated once, and nothing of it is kept after that", () => {
  const opener = createBodyOpener();
  const body = sent("one");
  const first = opener.open(body);
  expect(first).toEqual({ content: Buffer.from("one") });
  expect(opener.open(body)).toBe(first);
  expect(opener.open(body)).not.toBe(first);
});

it("of two bodies that are opened in turns neither is taken for the other", () => {
  const opener = createBodyOpener();
  const [one, two] = [sent("one"), sent("two")];
  for (const body of [one, two, one, two]) {
    expect(opener.open(body)).toEqual({ content: Buffer.from(body === one ? "one" : "two") });
  }
});

it("a body whose bytes were given back is gone, also when it was inflated before", () => {
  const opener = createBodyOpener();
  const body = sent("one");
  opener.open(body);
  body.bytes = null;
  expect(opener.open(body)).toEqual({ refusal: GONE });
});

it("a body that is inflated no further for want of a key is not inflated for anything else of its request", () => {
  const opener = createBodyOpener();
  for (const body of [sent("x".repeat(MAX_REQUEST_BYTES + 1)), { bytes: Buffer.from("no brotli"), encoding: "br" }]) {
    const refused = opener.openForKey(body);
    expect(refused).toMatchObject({ refusal: { code: "missing_write_key" } });
    expect(opener.open(body)).toBe(refused);
  }
  const body = sent("x".repeat(MAX_REQUEST_BYTES));
  expect(opener.openForKey(body)).toEqual({ content: Buffer.alloc(MAX_REQUEST_BYTES, "x") });
});

it("a body of a crowd is inflated less far, and is asked for again instead of refused for want of a key", () => {
  const opener = createBodyOpener();
  const body = sent("x".repeat(CROWD_INFLATED_BYTES + 1));
  expect(opener.openForKey(body, true)).toMatchObject({ refusal: { status: 503, retryAfterS: 1 } });
  expect(opener.openForKey(sent("x".repeat(CROWD_INFLATED_BYTES)), true)).toHaveProperty("content");
  expect(opener.openForKey(sent("x".repeat(CROWD_INFLATED_BYTES + 1)))).toHaveProperty("content");
  const brotli = { bytes: Buffer.from("no brotli"), encoding: "br" };
  expect(opener.openForKey(brotli, true)).toMatchObject({ refusal: { status: 401 } });
});

it("brotli of a known key is inflated as far as its size allows, and not one byte more", () => {
  const opener = createBodyOpener();
  const compressed = (content: Buffer) =>
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const brotli = (bytes: number) => compressed(Buffer.alloc(bytes, "x"));
  const most = mostOfBrotli(brotli(70_000).length);
  expect(most).toBeLessThan(80_000);
  expect(mostOfBrotli(brotli(most + 1).length)).toBe(most);
  expect(opener.open({ bytes: brotli(most), encoding: "br" })).toEqual({ content: Buffer.alloc(most, "x") });
  expect(opener.open({ bytes: brotli(most + 1), encoding: " BR" })).toEqual({ refusal: SAYS_TOO_MUCH });
  expect(opener.open(sent("x".repeat(most + 1)))).toHaveProperty("content");
  // Content that differs in its ids, as real calls do, is far from that.
  const ids = Buffer.from(Array.from({ length: 12_000 }, (_, n) => `{"messageId":"${(n * n).toString(36)}"}`).join());
  expect(ids.length).toBeGreaterThan(250_000);
  expect(opener.open({ bytes: compressed(ids), encoding: "br" })).toEqual({ content: ids });
  expect(opener.open({ bytes: compressed(Buffer.alloc(600_000, ids)), encoding: "br" })).toMatchObject({
    refusal: { code: "request_too_large", message: expect.stringContaining(`${MAX_REQUEST_BYTES} bytes`) },
  });
});

it("gzip is inflated in one piece of the length that it says, and whatever it says to no more than it may be", () => {
  const opener = createBodyOpener();
  const lying = (said: number) => {
    const body = gzipSync("x".repeat(200_000));
    body.writeUInt32LE(said, body.length - 4);
    return { bytes: body as Buffer | null, encoding: "gzip" };
  };
  const opened = opener.open(sent("x".repeat(200_000)));
  expect(opened).toEqual({ content: Buffer.alloc(200_000, "x") });
  // The memory behind it is its own, with a byte that tells that there is no more.
  expect("content" in opened && opened.content.buffer.byteLength).toBe(200_001);
  for (const said of [0, 1, 2 ** 32 - 1]) {
    expect(opener.open(lying(said))).toMatchObject({ refusal: { code: "invalid_compression" } });
  }
  expect(opener.open({ bytes: Buffer.from("no"), encoding: "gzip" })).toHaveProperty("refusal");
  const twice = Buffer.concat([gzipSync("one"), gzipSync("x".repeat(100_000))]);
  expect(opener.open({ bytes: twice, encoding: "gzip" })).toEqual({
    content: Buffer.from(`one${"x".repeat(100_000)}`),
  });
  expect(opener.open(sent("x".repeat(MAX_REQUEST_BYTES + 1)))).toMatchObject({ refusal: { status: 413 } });
});
