/** Rules: HS1, HS2 and HS3 of server.ts, AC4 of accept.ts. */
import { createHash, randomBytes } from "node:crypto";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { SILENT_LOG } from "@posthaste/core/log";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_CALL_BYTES, MAX_DISCARDED_BYTES, MAX_REQUEST_BYTES } from "../src/limits.ts";
import { openSocket, readResponse, sendRaw, toRequestBytes } from "./raw-request.ts";
import { PATIENCE_MS, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway();
});
afterEach(() => gateway.close());

const BASIC = `Authorization: Basic ${Buffer.from(`${WRITE_KEY}:`).toString("base64")}`;
const track = (note: string) => ({ type: "track", userId: "u", event: "E", properties: { note } });

/** A call, or a batch of calls of a legal size, of exactly so many bytes. */
function callOf(bytes: number): string {
  const empty = JSON.stringify(track(""));
  return JSON.stringify(track("x".repeat(bytes - empty.length)));
}
function batchOf(bytes: number): string {
  const calls: string[] = [];
  let left = bytes - `{"batch":[]}`.length;
  while (left > 0) {
    const size = left > 60_000 ? 30_000 : Math.ceil(left / 2);
    calls.push(callOf(left < 30_000 ? left : size));
    left -= (calls.at(-1)?.length ?? 0) + 1;
  }
  return `{"batch":[${calls.join(",")}]}`.padEnd(bytes, " ");
}

const answerOf = async (response: Response) => ({ status: response.status, body: (await response.json()) as object });

it("is refused before its body is read while the brokers lag, also where only the body has the key", async () => {
  gateway.producer.stalledForMs = PATIENCE_MS + 1;
  const head = "POST /v1/track HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n";
  expect((await sendRaw(gateway.url, Buffer.from(head)))?.status).toBe(503);
});

describe("sizes", () => {
  it(`are ${MAX_CALL_BYTES} bytes for a single call`, async () => {
    expect((await gateway.post("/v1/track", callOf(MAX_CALL_BYTES))).status).toBe(200);
    expect(await answerOf(await gateway.post("/v1/track", callOf(MAX_CALL_BYTES + 1)))).toMatchObject({
      status: 413,
      body: { code: "call_too_large" },
    });
    expect(gateway.events()).toHaveLength(1);
    expect(gateway.rejected()).toMatchObject([{ calls: [{ code: "call_too_large" }] }]);
  });

  it("AC4: are looked at before a single call is parsed", async () => {
    expect(await answerOf(await gateway.post("/v1/track", "no JSON".padEnd(MAX_CALL_BYTES + 1, "x")))).toMatchObject({
      status: 413,
      body: { code: "call_too_large" },
    });
    expect(gateway.rejected()).toMatchObject([{ calls: [{ code: "call_too_large" }] }]);
  });

  it("are of a compressed batch's calls by what was sent, also where it was compressed to no 30th", async () => {
    const calls = Array.from({ length: 6_000 }, () => "{}").join(",");
    const batch = (beside: string) => `{"batch":[${calls}],"beside":"${beside}"}`;
    const beside = randomBytes(600).toString("base64");
    const gzip = gzipSync(batch(beside));
    expect(batch(beside).length / gzip.length).toBeLessThan(30);
    const answer = await answerOf(await gateway.post("/v1/batch", gzip, { "content-encoding": "gzip" }));
    expect(answer).toMatchObject({ status: 413, body: { code: "request_too_large" } });
    expect(gateway.rejected()).toEqual([]);
  });

  it("are of a compressed batch's refused calls, which are kept, by what was sent", async () => {
    const batchOf = (calls: number) => {
      const refused = JSON.stringify({ ...track(""), messageId: "x".repeat(16_000) });
      return Buffer.from(`{"batch":[${Array(calls).fill(refused).join(",")},${callOf(1_000)}]}`);
    };
    const post = async (body: Buffer, headers = {}) => (await gateway.post("/v1/batch", body, headers)).status;
    const gzip = { "content-encoding": "gzip" };
    expect(await post(gzipSync(batchOf(30)), gzip)).toBe(413);
    expect(gateway.producer.sent).toEqual([]);
    expect(await post(gzipSync(batchOf(4)), gzip)).toBe(200);
    expect(await post(batchOf(30))).toBe(200);
    expect([gateway.events().length, gateway.rejected().flatMap(({ calls }) => calls).length]).toEqual([2, 34]);
  });

  it("are of a compressed call's objects and values by what was sent, as of a batch's", async () => {
    const call = (properties: string) => `{"userId":"u","event":"E","properties":{"a":${properties}}}`;
    const deep = `${"[".repeat(90)}${"]".repeat(90)}`;
    const lists = call(`[${Array(140).fill(deep).join(",")}]`);
    const gzip = gzipSync(lists);
    expect(lists.length).toBeLessThan(MAX_CALL_BYTES);
    expect(gzip.length).toBeLessThan(600);
    const post = async (body: string | Buffer, headers = {}) => (await gateway.post("/v1/track", body, headers)).status;
    const encoding = { "content-encoding": "gzip" };
    expect(await post(gzip, encoding)).toBe(413);
    expect(gateway.producer.sent).toEqual([]);
    expect(await post(lists)).toBe(200);
    expect(await post(gzipSync(call(`"${"x".repeat(32_000)}"`)), encoding)).toBe(200);
    expect(await post(gzipSync(call(`[${Array(4_000).fill("0").join(",")}]`)), encoding)).toBe(200);
    // A call that is too large is reported so and kept, whatever is in it.
    const large = await gateway.post("/v1/track", gzipSync(call(`[${Array(20_000).fill("{}").join(",")}]`)), encoding);
    expect(await answerOf(large)).toMatchObject({ status: 413, body: { code: "call_too_large" } });
  });

  it("are of what a compressed batch becomes far over what clients send", async () => {
    const gzip = { "content-encoding": "gzip" };
    const post = async (body: string) => (await gateway.post("/v1/batch", gzipSync(body), gzip)).status;
    // As few letters as may be in as many bytes as may be.
    expect(await post(batchOf(MAX_REQUEST_BYTES))).toBe(200);
    const batch = Array.from({ length: 250 }, (_, n) => ({
      ...{ type: "track", userId: "u", event: "E" },
      messageId: createHash("md5").update(`${n}`).digest("hex"),
    }));
    const context = { library: { name: "go" }, page: { title: "x".repeat(8_000) } };
    expect(await post(JSON.stringify({ batch, context }))).toBe(200);
    // The same without ids becomes a megabyte of some two hundred bytes.
    const equalCalls = batch.map(({ messageId: _, ...call }) => call);
    expect(await post(JSON.stringify({ batch: equalCalls.slice(0, 128), context }))).toBe(413);
  });

  it("are the same for a call in a batch, which is rejected without the others", async () => {
    const batch = `{"batch":[${callOf(MAX_CALL_BYTES)},${callOf(MAX_CALL_BYTES + 1)}]}`;
    const { status, body } = await answerOf(await gateway.post("/v1/batch", batch));
    expect(status).toBe(200);
    expect(body).toMatchObject({ rejected: [{ index: 1, code: "call_too_large" }] });
    expect(gateway.events()).toHaveLength(1);
  });

  it("are those of compact JSON for a call of a batch that is written longer", async () => {
    const written = (number: string, times: number) =>
      `{"type":"track","userId":"u","event":"E","properties":{"a":[${`${number},`.repeat(times)}0]}}`;
    const calls = [written("1.00", 10_000), written("1.25", 10_000)];
    const { body } = await answerOf(await gateway.post("/v1/batch", `{"batch":[${calls.join(",")}]}`));
    expect(body).toMatchObject({ rejected: [{ index: 1, code: "call_too_large" }] });
    expect(gateway.rejected()).toMatchObject([{ calls: [{ userKey: "u", event: "E" }] }]);
  });

  it(`are ${MAX_REQUEST_BYTES} bytes for a request`, async () => {
    const largest = batchOf(MAX_REQUEST_BYTES);
    expect(largest).toHaveLength(MAX_REQUEST_BYTES);
    expect(await answerOf(await gateway.post("/v1/batch", largest))).toEqual({ status: 200, body: { success: true } });
    const tooLarge = await gateway.post("/v1/batch", `${largest} `);
    expect(await answerOf(tooLarge)).toMatchObject({ status: 413, body: { code: "request_too_large" } });
  });

  it("that are far over the limit are still told so, as go v2 and rudder-python send them", async () => {
    const response = await gateway.post("/v1/batch", batchOf(1_289_136));
    expect(await answerOf(response)).toMatchObject({ status: 413, body: { code: "request_too_large" } });
  });

  it("without an end are cut off", async () => {
    const socket = await openSocket(gateway.url);
    const answered = readResponse(socket);
    socket.write(`POST /v1/batch HTTP/1.1\r\nHost: x\r\n${BASIC}\r\nContent-Length: 1000000000\r\n\r\n`);
    const chunk = Buffer.alloc(256 * 1024, 0x20);
    let sent = 0;
    const pump = () => {
      while (!socket.destroyed && socket.writable && sent < 4 * MAX_DISCARDED_BYTES) {
        sent += chunk.length;
        if (!socket.write(chunk)) break;
      }
    };
    socket.on("drain", pump);
    pump();
    expect(await answered).toMatchObject({ status: 413 });
    await eventually(() => expect(socket.destroyed).toBe(true));
    expect(sent).toBeLessThan(4 * MAX_DISCARDED_BYTES);
  });
});

describe("content encodings", () => {
  const body = JSON.stringify(track("café"));

  it.each([
    ["gzip", gzipSync(body)],
    ["GZIP", gzipSync(body)],
    ["x-gzip", gzipSync(body)],
    ["deflate", deflateSync(body)],
    ["deflate", deflateRawSync(body)],
    ["br", brotliCompressSync(body)],
    ["identity", Buffer.from(body)],
  ])("%s is read", async (encoding, bytes) => {
    const headers = [BASIC, `Content-Encoding: ${encoding}`];
    const response = await sendRaw(gateway.url, toRequestBytes("POST", "/v1/track", headers, bytes));
    expect(response).toMatchObject({ status: 200, body: `{"success":true}` });
    expect(gateway.events()[0]?.propertiesJson).toBe(`{"note":"café"}`);
  });

  it.each([
    ["zstd", Buffer.from(body), 415, "unsupported_encoding"],
    ["gzip, gzip", gzipSync(gzipSync(body)), 415, "unsupported_encoding"],
    ["gzip", Buffer.from(body), 400, "invalid_compression"],
    ["gzip", gzipSync(body).subarray(0, 40), 400, "invalid_compression"],
    ["br", gzipSync(body), 400, "invalid_compression"],
    ["deflate", Buffer.alloc(0), 400, "invalid_compression"],
  ])("%s is refused where it is not known or not true", async (encoding, bytes, status, code) => {
    const headers = [BASIC, `Content-Encoding: ${encoding}`];
    const response = await sendRaw(gateway.url, toRequestBytes("POST", "/v1/track", headers, bytes));
    expect(response?.status).toBe(status);
    expect(JSON.parse(response?.body ?? "")).toMatchObject({ code });
  });

  it.each([
    ["gzip", gzipSync(Buffer.alloc(200_000_000))],
    ["br", brotliCompressSync(Buffer.alloc(200_000_000))],
  ])("a %s bomb is stopped at the limit, in time and memory of an honest body", async (encoding, bomb) => {
    const before = process.memoryUsage.rss();
    const headers = [BASIC, `Content-Encoding: ${encoding}`];
    const response = await sendRaw(gateway.url, toRequestBytes("POST", "/v1/batch", headers, bomb));
    expect(response?.status).toBe(413);
    expect(process.memoryUsage.rss() - before).toBeLessThan(50_000_000);
  });

  it("count after decompression: a legal batch may be small on the wire, and is not legal for that", async () => {
    const send = async (bytes: number) =>
      (
        await sendRaw(
          gateway.url,
          toRequestBytes("POST", "/v1/batch", [BASIC, "Content-Encoding: gzip"], gzipSync(batchOf(bytes))),
        )
      )?.status;
    expect(await send(MAX_REQUEST_BYTES)).toBe(200);
    expect(await send(MAX_REQUEST_BYTES + 1)).toBe(413);
  });
});

/** Answers the bytes sent to it; the connection is closed then. */
const say = async (bytes: string) => {
  const socket = await openSocket(gateway.url);
  socket.write(bytes);
  const response = await readResponse(socket);
  await eventually(() => expect(socket.readyState).not.toBe("open"));
  socket.destroy();
  return response;
};

describe("slow senders (HS1, HS2)", () => {
  beforeEach(async () => {
    await gateway.close();
    gateway = await startTestGateway({ timeouts: { headersMs: 200, requestMs: 400, checkMs: 50 } });
  });

  it("that never finish their headers are cut off", async () => {
    expect(await say("POST /v1/track HTTP/1.1\r\nHost: x\r\nX-Slow: ")).toMatchObject({ status: 408 });
  });

  it("that never finish their body are cut off", async () => {
    const response = await say(`POST /v1/track HTTP/1.1\r\nHost: x\r\n${BASIC}\r\nContent-Length: 100\r\n\r\n{"a":`);
    expect(response).toMatchObject({ status: 408 });
    expect(JSON.parse(response?.body ?? "")).toMatchObject({ code: "request_timeout" });
  });
});

// With the times of the service: a busy machine would have the others cut off before they are read.
describe("broken senders (HS1, HS2)", () => {
  it("with too many headers are told so", async () => {
    const response = await say(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(response).toMatchObject({ status: 431 });
    expect(JSON.parse(response?.body ?? "")).toMatchObject({ code: "headers_too_large" });
    const ofLines = await say(`GET / HTTP/1.1\r\nHost: x\r\n${"x: y\r\n".repeat(200)}\r\n`);
    const message = "The request has more than 128 header lines; send fewer.";
    expect([ofLines?.status, JSON.parse(ofLines?.body ?? "")]).toEqual([431, { code: "headers_too_large", message }]);
  });

  it("that speak no HTTP are told so", async () => {
    expect(await say("hello\r\n\r\n")).toMatchObject({
      status: 400,
      body: expect.stringContaining("malformed_request"),
    });
  });

  it("that go away in the middle of a body leave nothing held", async () => {
    const socket = await openSocket(gateway.url);
    socket.write(`POST /v1/track HTTP/1.1\r\nHost: x\r\n${BASIC}\r\nContent-Length: 100\r\n\r\n{"a":`);
    await eventually(() => expect(gateway.bodies.heldBytes).toBe(5));
    socket.destroy();
    await eventually(() => expect(gateway.bodies.heldBytes).toBe(0));
  });
});

it("cuts off who sends hundreds of requests and reads no answer", async () => {
  const socket = await openSocket(gateway.url);
  socket.on("error", () => {});
  const cutOff = new Promise((resolve) => {
    socket.once("close", resolve);
  });
  socket.pause();
  socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2_000));
  await eventually(async () => {
    socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(socket.destroyed).toBe(true);
  });
  await cutOff;
});

it("answers its own faults 500 in JSON, logs and counts them", async () => {
  const logged: unknown[] = [];
  const faulty = await startTestGateway({
    encodeEvent: () => {
      throw new Error("no such schema");
    },
    log: { ...SILENT_LOG, error: (fields) => logged.push(fields) },
  });
  const response = await faulty.post("/v1/track", track("x"));
  expect(await answerOf(response)).toMatchObject({ status: 500, body: { code: "internal" } });
  expect(logged).toMatchObject([{ event: "request_failed" }]);
  expect(await faulty.registry.metrics()).toContain('posthaste_ingest_calls_total{answer="internal"} 1');
  await faulty.close();
});

it("answers at a stop what is under way, and takes nothing new (HS3)", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.producer.acknowledge = () => promise;
  const socket = await openSocket(gateway.url);
  const underWay = readResponse(socket);
  socket.write(toRequestBytes("POST", "/v1/track", [BASIC], JSON.stringify(track("x"))));
  await eventually(() => expect(gateway.events()).toHaveLength(1));
  const closed = gateway.close();
  await eventually(() => expect(fetch(gateway.url)).rejects.toThrow());
  resolve();
  expect(await underWay).toMatchObject({ status: 200, headers: { connection: "close" } });
  await closed;
});
