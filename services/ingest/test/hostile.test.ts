/**
 * Requests that are made to cost much and say little. Work is counted, not timed: parsed bytes, serialised bytes, held
 * bytes.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createBodyOpener } from "../src/body/decompress.ts";
import { MAX_CALL_BYTES, MAX_REQUEST_BYTES, MAX_WAITING_FOR_SOURCES } from "../src/limits.ts";
import { openSocket, readResponse, toRequestBytes } from "./raw-request.ts";
import { SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ maxPendingBytes: 1_000_000_000 });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await gateway.close();
});

const GZIP = { "content-encoding": "gzip" };
const NOBODY = { authorization: "" };
const CALL = { userId: "u", event: "E" };
const objects = (bytes: number) => `[${"{},".repeat(bytes / 3)}{}]`;

/** Lengths of the texts that are parsed from now on. */
function watchParsing(): () => readonly number[] {
  const spy = vi.spyOn(JSON, "parse");
  return () => spy.mock.calls.map(([text]) => String(text).length).filter((length) => length > 2_000);
}

it("a batch with more keys than stand-ins for them is refused with the reason, before it is parsed", async () => {
  const parsed = watchParsing();
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`\\${index}`, 0]));
  const refused = await gateway.post("/v1/batch", { batch: [], beside: keys(8_000) });
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({
    code: "request_too_large",
    message: expect.stringContaining("1000 keys"),
  });
  expect(parsed()).toEqual([]);
  expect((await gateway.post("/v1/batch", { batch: [], beside: keys(1_000) })).status).toBe(200);
  expect(parsed()).toHaveLength(1);
});

it("a call of half a megabyte in a batch is not parsed, is kept without its key, others are taken", async () => {
  const parsed = watchParsing();
  const large = `{"writeKey":"${WRITE_KEY}","type":"track","properties":{"a":${objects(400_000)}},"userId":"u"}`;
  const response = await gateway.post(
    "/v1/batch",
    `{"batch":[${JSON.stringify({ ...CALL, type: "track" })},${large}]}`,
  );
  expect(await response.json()).toMatchObject({ rejected: [{ index: 1, code: "call_too_large" }] });
  expect(parsed()).toEqual([]);
  expect(gateway.events()).toHaveLength(1);
  expect(gateway.rejected()).toMatchObject([
    {
      calls: [{ code: "call_too_large", index: 1, callJson: expect.stringMatching(/^\{"type":"track","properties"/) }],
    },
  ]);
});

it("half a megabyte beside the calls of a batch is not parsed, unless it is a list, as its calls are", async () => {
  const parsed = watchParsing();
  const refused = await gateway.post("/v1/batch", `{"batch":[],"beside":{"a":${objects(400_000)}}}`);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({ code: "request_too_large" });
  expect(parsed()).toEqual([]);
  expect((await gateway.post("/v1/batch", `{"batch":[],"beside":${objects(400_000)}}`)).status).toBe(200);
  expect(Math.max(...parsed())).toBeLessThan(MAX_CALL_BYTES);
  const broken = `{"batch":[],"beside":${objects(400_000).replace("{},{}]", "{},{]")}}`;
  expect((await gateway.post("/v1/batch", broken)).status).toBe(400);
});

describe("a body of half a megabyte in six hundred bytes", () => {
  it("is not parsed for a key that no source has", async () => {
    const parsed = watchParsing();
    for (const key of ["", `"writeKey":"no",`, `"writeKey":"\\u006eo",`]) {
      const body = gzipSync(`{${key}"properties":{"a":${objects(500_000)}}}`);
      expect(body.length).toBeLessThan(700);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => (await gateway.post("/v1/track", body, { ...NOBODY, ...GZIP })).status),
      );
      expect(new Set(statuses)).toEqual(new Set([401]));
    }
    expect(parsed()).toEqual([]);
  });

  it("is not even waited for where the header names the key", async () => {
    await gateway.close();
    // By this clock no body comes too slowly: a reader that waited for this one would wait until the whole request is
    // late.
    gateway = await startTestGateway({ clock: { nowMs: () => 0, monotonicMs: () => 0 } });
    const socket = await openSocket(gateway.url);
    const answered = readResponse(socket);
    const header = `Authorization: Basic ${btoa("nobody:")}`;
    socket.write(toRequestBytes("POST", "/v1/track", [header], "x".repeat(1_000)).subarray(0, -500));
    expect(await answered).toMatchObject({ status: 401 });
    expect(gateway.bodies.heldBytes).toBe(0);
    socket.destroy();
  });

  it("is not parsed as a single call, which it is too large for, and is kept without its write key", async () => {
    const parsed = watchParsing();
    const body = `{"writeKey":"${WRITE_KEY}","properties":{"a":${objects(500_000)}}}`;
    const answers = [
      ["call_too_large", gzipSync(body), GZIP],
      ["call_too_large", Buffer.from(body), NOBODY],
      ["call_too_large", gzipSync(body), { ...NOBODY, ...GZIP }],
    ] as const;
    for (const [code, bytes, headers] of answers) {
      expect(await (await gateway.post("/v1/track", bytes, headers)).json()).toMatchObject({ code });
    }
    expect(parsed()).toEqual([]);
    for (const { calls } of gateway.rejected()) {
      expect(calls).toMatchObject([
        { code: "call_too_large", callJson: expect.stringMatching(/^\{"properties":\{"a":\[/) },
      ]);
    }
    expect(gateway.rejected()).toHaveLength(3);
  });

  it("is not parsed as a batch either, and is when it comes uncompressed, some calls at a time", async () => {
    const parsed = watchParsing();
    const calls = Array.from(
      { length: 15 },
      () => `{"type":"track","userId":"u","event":"E","properties":{"a":${objects(32_000)}}}`,
    );
    const body = `{"batch":[${calls.join(",")}]}`;
    const refused = await gateway.post("/v1/batch", gzipSync(body), GZIP);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: "request_too_large" });
    expect(parsed()).toEqual([]);
    expect((await gateway.post("/v1/batch", body)).status).toBe(200);
    expect(parsed()).toHaveLength(calls.length);
    expect(Math.max(...parsed())).toBeLessThan(2 * MAX_CALL_BYTES);
  });

  it("leaves no tree behind while its events wait for the brokers", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    gateway.producer.acknowledge = () => new Promise(() => {});
    const calls = Array.from(
      { length: 15 },
      () => `{"type":"track","userId":"u","event":"E","properties":{"a":${objects(32_000)}}}`,
    );
    const body = `{"batch":[${calls.join(",")}]}`;
    const before = heap();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(gateway.url)));
    const headers = [`Authorization: Basic ${btoa(`${WRITE_KEY}:`)}`];
    for (const socket of sockets) socket.write(toRequestBytes("POST", "/v1/batch", headers, body));
    await eventually(() => expect(gateway.producer.sent).toHaveLength(20 * 15));
    // A tree is 10 MB; the events of all requests, as these tests write them, are as much.
    expect(heap() - before).toBeLessThan(40_000_000);
    for (const socket of sockets) socket.destroy();
  });
});

it("nothing is made of requests that come with one too many of their connection", async () => {
  gateway.producer.acknowledge = () => new Promise(() => {});
  const socket = await openSocket(gateway.url);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {}).resume();
  const call = toRequestBytes(
    "POST",
    "/v1/track",
    [`Authorization: Basic ${btoa(`${WRITE_KEY}:`)}`],
    `{"userId":"u","event":"E"}`,
  );
  socket.write(Buffer.concat(Array<Buffer>(200).fill(call)));
  await closed;
  gateway.producer.acknowledge = () => Promise.resolve();
  await gateway.post("/v1/track", { ...CALL, userId: "next" });
  expect(gateway.events().at(-1)?.userId).toBe("next");
  expect(gateway.producer.sent.length).toBeLessThanOrEqual(18);
});

describe("a key that stands in a compressed body alone", () => {
  const bodyOf = (bytes: number) =>
    `{"batch":[],"note":"","writeKey":"${WRITE_KEY}"}`.replace(`""`, `"${"x".repeat(bytes)}"`);

  it("is found where it is gzip or deflate of no more than a request's bytes", async () => {
    const post = async (body: Uint8Array, encoding: string) =>
      (await gateway.post("/v1/batch", body, { ...NOBODY, "content-encoding": encoding })).status;
    const small = bodyOf(30_000);
    expect([await post(gzipSync(small), "gzip"), await post(deflateSync(small), "deflate")]).toEqual([200, 200]);
    expect(await post(brotliCompressSync(small), "br")).toBe(401);
    expect(await post(gzipSync(bodyOf(MAX_REQUEST_BYTES)), "gzip")).toBe(401);
    expect(await post(Buffer.from(bodyOf(100_000)), "identity")).toBe(200);
    const said = await gateway.post("/v1/batch", gzipSync(bodyOf(MAX_REQUEST_BYTES)), { ...NOBODY, ...GZIP });
    expect(await said.json()).toMatchObject({
      code: "missing_write_key",
      message: expect.stringContaining("compressed"),
    });
  });

  it("is found behind as many calls as a client batches (python 2.3 has its key there, and may compress)", async () => {
    const call = { type: "track", userId: "u", event: "E", properties: { note: "x".repeat(4500) } };
    const batch = Array.from({ length: 100 }, (_, index) => ({ ...call, messageId: `m-${index}` }));
    const body = gzipSync(JSON.stringify({ batch, sentAt: new Date().toISOString(), writeKey: WRITE_KEY }), {
      level: 1,
    });
    // In bytes that differ as the bytes of real calls do.
    expect((await gateway.post("/v1/batch", body, { ...NOBODY, ...GZIP })).status).toBe(200);
  });

  it("is inflated no further than that, whatever it would come to", () => {
    const opener = createBodyOpener();
    const bytes = gzipSync(Buffer.alloc(200_000_000, "x"));
    const before = process.memoryUsage().external;
    expect(opener.openForKey({ bytes, encoding: "gzip" })).toMatchObject({ refusal: { status: 401 } });
    expect(process.memoryUsage().external - before).toBeLessThan(3 * MAX_REQUEST_BYTES);
  });
});

describe("keys that nobody has", () => {
  it("are found in a body wherever the key that counts may stand", async () => {
    const nested = Array.from({ length: 50 }, (_, index) => `{"writeKey":"no-${index}"}`).join(",");
    for (const body of [
      `{"batch":[${nested}],"writeKey":"${WRITE_KEY}"}`,
      `{"writeKey" : "${WRITE_KEY}" ,"batch":[]}`,
      `{"writeKey":"no","writeKey":"${WRITE_KEY}","batch":[]}`,
      `{"writeKey":"${[...WRITE_KEY].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join("")}","batch":[]}`,
    ]) {
      expect((await gateway.post("/v1/batch", body, NOBODY)).status).toBe(200);
    }
    // One that is known, but does not count, lets nothing pass.
    for (const body of [
      `{"batch":[{"writeKey":"${WRITE_KEY}"}]}`,
      `{"batch":[{"writeKey":"${WRITE_KEY}"}],"writeKey":"no"}`,
      `{"writeKey":"${WRITE_KEY}","batch":[],"writeKey":"no"}`,
    ]) {
      expect((await gateway.post("/v1/batch", body, NOBODY)).status).toBe(401);
    }
  });

  it("wait for the table of sources in a bounded number", async () => {
    await gateway.close();
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway = await startTestGateway({ refreshSources: () => promise });
    const post = (key: string) => gateway.post("/v1/track", CALL, { authorization: `Basic ${btoa(`${key}:`)}` });
    let refused = 0;
    const posted = Array.from({ length: MAX_WAITING_FOR_SOURCES + 5 }, async (_, index) => {
      const { status } = await post(`no-${index}`);
      if (status === 503) refused++;
      return status;
    });
    await eventually(() => expect(refused).toBe(5));
    // Known keys do not wait.
    expect((await gateway.post("/v1/track", CALL)).status).toBe(200);
    resolve();
    expect((await Promise.all(posted)).filter((status) => status === 401)).toHaveLength(MAX_WAITING_FOR_SOURCES);
    expect((await post("no")).status).toBe(401);
  });

  it("are looked for ten times in a second and no more, until a source changes", async () => {
    await gateway.close();
    let refreshes = 0;
    let nowMs = 0;
    gateway = await startTestGateway({
      clock: { nowMs: () => 0, monotonicMs: () => nowMs },
      refreshSources: () => {
        refreshes++;
        return Promise.resolve();
      },
    });
    const post = async (key: string) =>
      (await gateway.post("/v1/track", CALL, { authorization: `Basic ${btoa(`${key}:`)}` })).status;
    for (let time = 0; time < 30; time++) expect(await post("new")).toBe(401);
    expect(refreshes).toBe(10);
    expect(await post("other")).toBe(401);
    expect(refreshes).toBe(11);
    nowMs = 1_000;
    expect(await post("new")).toBe(401);
    expect(refreshes).toBe(12);
    for (let time = 0; time < 30; time++) expect(await post("new")).toBe(401);
    gateway.writeKeys.apply("else", { ...SOURCE, id: "else", writeKeys: [] });
    expect(await post("new")).toBe(401);
    expect(refreshes).toBe(22);
    gateway.writeKeys.apply("new", { ...SOURCE, id: "new", writeKeys: [{ key: "new", expiresAtMs: null }] });
    expect(await post("new")).toBe(200);
  });
});

describe("a batch's context", () => {
  /** How often it is serialised from now on. */
  const watchContext = () => {
    const spy = vi.spyOn(JSON, "stringify");
    return () =>
      spy.mock.calls.filter(([value]) => typeof value === "object" && value !== null && "marker" in value).length;
  };
  const context = { marker: 1, shared: 0, numbers: Array.from({ length: 1_000 }, (_, n) => n) };

  it("is serialised as often for a thousand calls as for one", async () => {
    const times = async (calls: number) => {
      const serialised = watchContext();
      const batch = Array.from({ length: calls }, (_, n) => ({
        ...CALL,
        type: "track",
        // None of its own, another key, and one of the batch's.
        context: [{}, { n }, { shared: n }][n % 3],
      }));
      expect((await gateway.post("/v1/batch", JSON.stringify({ batch, context }))).status).toBe(200);
      vi.restoreAllMocks();
      // The test's own is one.
      return serialised();
    };
    expect(await times(1_000)).toBe(await times(1));
    expect(gateway.events()[3]?.contextJson).toBe(
      `${JSON.stringify(context).slice(0, -1)},"ip":"127.0.0.1","userAgent":"node"}`,
    );
  });

  it("of thousands of tiny keys is put into calls that have a context themselves by their own keys", async () => {
    const context = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [n.toString(36), 0]));
    const batch = Array.from({ length: 200 }, () => ({ ...CALL, type: "track", context: { a: 2, own: 1 } }));
    expect((await gateway.post("/v1/batch", { batch, context })).status).toBe(200);
    expect(JSON.parse(gateway.events()[199]?.contextJson ?? "")).toMatchObject({ ...context, a: 2, own: 1 });
  });
});

describe("a batch's integrations", () => {
  const statusOf = async (own: object, calls: number) => {
    const integrations = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [n.toString(36), 1]));
    const batch = Array.from({ length: calls }, () => ({ ...CALL, type: "track", ...own }));
    return (await gateway.post("/v1/batch", { batch, integrations })).status;
  };

  it("count by their number in each call, and twice as much where the call has its own", async () => {
    expect(await statusOf({}, 30)).toBe(200);
    expect(await statusOf({}, 100)).toBe(413);
    expect(await statusOf({ integrations: {} }, 30)).toBe(200);
    expect(await statusOf({ integrations: { a: true } }, 15)).toBe(200);
    expect(await statusOf({ integrations: { a: true } }, 30)).toBe(413);
  });

  it("beside compressed calls that differ in nothing are as dear as calls: with sixteen, half as many are taken", async () => {
    const statusOfCompressed = async (calls: number, shared: number) => {
      const integrations = Object.fromEntries(Array.from({ length: shared }, (_, n) => [`Destination ${n}`, true]));
      const body = gzipSync(JSON.stringify({ batch: Array(calls).fill({ ...CALL, type: "track" }), integrations }));
      return (await gateway.post("/v1/batch", body, { "content-encoding": "gzip" })).status;
    };
    expect(await statusOfCompressed(130, 0)).toBe(200);
    expect(await statusOfCompressed(60, 16)).toBe(200);
    expect(gateway.events()).toHaveLength(190);
    expect(await statusOfCompressed(130, 16)).toBe(413);
    expect(gateway.events()).toHaveLength(190);
  });

  it("stand beside thousands of calls, as many as anyone names", async () => {
    const integrations = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`Destination ${n}`, n % 2 === 0]));
    const batch = Array.from({ length: 1_500 }, () => ({ ...CALL, type: "track" }));
    expect((await gateway.post("/v1/batch", { batch, integrations })).status).toBe(200);
    expect(gateway.events()[1_499]?.integrations).toEqual(integrations);
  });
});

describe("a pixel's address", () => {
  it("is not looked into before its key is", async () => {
    const query = Array.from({ length: 190 }, (_, n) => `properties.p${n}=1`).join("&");
    const define = vi.spyOn(Object, "defineProperty");
    const defined = () => define.mock.calls.filter(([, name]) => name === "p0").length;
    for (const key of ["", "writeKey=no&"]) {
      expect((await fetch(`${gateway.url}/pixel/v1/track?${key}${query}`)).status).toBe(200);
    }
    expect(defined()).toBe(0);
    const url = `${gateway.url}/pixel/v1/track?writeKey=${WRITE_KEY}&userId=u&event=E&${query}`;
    expect((await fetch(url)).headers.get("content-type")).toBe("image/gif");
    expect(defined()).toBe(1);
    expect(gateway.events()).toHaveLength(1);
  });

  it("with more names than anyone writes is no call", async () => {
    const query = Array.from({ length: 300 }, (_, n) => `properties.p${n}=1`).join("&");
    const url = `${gateway.url}/pixel/v1/track?writeKey=${WRITE_KEY}&userId=u&event=E&${query}`;
    expect((await fetch(url)).status).toBe(200);
    expect(gateway.events()).toEqual([]);
  });
});
