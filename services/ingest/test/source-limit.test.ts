/** The rate of one source, and the fate of its requests beyond that. */
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PROMPT_REFUSALS, REFUSAL_DELAY_MS } from "../src/limits.ts";
import { openSocket, readResponse, toRequestBytes } from "./raw-request.ts";
import { SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

const PER_SOURCE = { calls: 2, bytes: 50_000 };
const OTHER_KEY = "wk-other";
const NOBODY = { authorization: "" };
const GZIP = { "content-encoding": "gzip" };

let gateway: TestGateway;
let nowMs: number;
let sockets: Socket[];
beforeEach(async () => {
  nowMs = 0;
  sockets = [];
  gateway = await startTestGateway({ perSource: PER_SOURCE, clock: { nowMs: () => 0, monotonicMs: () => nowMs } });
  gateway.writeKeys.apply("other", { ...SOURCE, id: "other", writeKeys: [{ key: OTHER_KEY, expiresAtMs: null }] });
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  await gateway.close();
});

const call = (userId: string) => ({ type: "track", userId, event: "E" });
const batchOf = (calls: number) => ({ batch: Array.from({ length: calls }, (_, n) => call(`u${n}`)) });
const basic = (key: string) => ({ authorization: `Basic ${btoa(`${key}:`)}` });
const limited = async () => {
  const counts = await gateway.registry.getSingleMetric("posthaste_ingest_calls_total")?.get();
  return counts?.values.find(({ labels }) => labels["answer"] === "rate_limited")?.value;
};

it("is answered 429 with the seconds to wait, and other sources are not", async () => {
  expect((await gateway.post("/v1/batch", batchOf(6))).status).toBe(200);
  const refused = await gateway.post("/v1/track", call("u"));
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("2");
  expect(refused.headers.get("x-ratelimit-reset")).toBe("2");
  expect(await refused.json()).toMatchObject({ code: "rate_limited" });
  expect((await gateway.post("/v1/track", call("u"), basic(OTHER_KEY))).status).toBe(200);
  expect(await limited()).toBe(1);
  nowMs = 2_001;
  expect((await gateway.post("/v1/track", call("u"))).status).toBe(200);
});

it("counts bytes after decompression, and of what was refused for its content too", async () => {
  const large = gzipSync(JSON.stringify({ ...call("u"), event: 5, note: "x".repeat(150_000) }));
  expect(large.length).toBeLessThan(1_000);
  expect((await gateway.post("/v1/track", large, GZIP)).status).toBe(413);
  const refused = await gateway.post("/v1/track", call("u"));
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("3");
  nowMs = 3_000;
  expect((await gateway.post("/v1/batch", "{", GZIP)).status).toBe(400);
  expect((await gateway.post("/v1/track", "no JSON")).status).toBe(400);
  expect((await gateway.post("/v1/track", call("u"))).status).toBe(429);
});

it("counts what stops at the limit of decompression as if it had come so far", async () => {
  expect((await gateway.post("/v1/batch", gzipSync(Buffer.alloc(5_000_000)), GZIP)).status).toBe(413);
  expect((await gateway.post("/v1/track", call("u"))).headers.get("retry-after")).toBe("10");
});

it("is asked before the body comes where the key is in the header or the address", async () => {
  await gateway.post("/v1/batch", batchOf(6));
  for (const [path, headers] of [
    ["/v1/track", [`Authorization: ${basic(WRITE_KEY).authorization}`]],
    [`/beacon/v1/batch?writeKey=${WRITE_KEY}`, []],
  ] as const) {
    const socket = await openSocket(gateway.url);
    const answered = readResponse(socket);
    socket.write(toRequestBytes("POST", path, headers, "x".repeat(1_000)).subarray(0, -500));
    expect(await answered).toMatchObject({ status: 429 });
    expect(gateway.bodies.heldBytes).toBe(0);
    socket.destroy();
  }
});

it("is asked before anything is parsed where the key is in the body, and counts whose it proves to be", async () => {
  await gateway.post("/v1/batch", batchOf(6));
  const parse = vi.spyOn(JSON, "parse");
  const body = JSON.stringify({ writeKey: WRITE_KEY, ...call("u") });
  expect((await gateway.post("/v1/track", body, NOBODY)).status).toBe(429);
  expect(parse).not.toHaveBeenCalled();
  // The key that is found first is the other's, and counts for nothing.
  const nested = { properties: { writeKey: OTHER_KEY }, writeKey: WRITE_KEY, ...call("u") };
  expect((await gateway.post("/v1/track", JSON.stringify(nested), NOBODY)).status).toBe(429);
  nowMs = 10_000;
  const batch = { context: { writeKey: OTHER_KEY }, writeKey: WRITE_KEY, ...batchOf(6) };
  expect((await gateway.post("/v1/batch", JSON.stringify(batch), NOBODY)).status).toBe(200);
  expect((await gateway.post("/v1/track", body, NOBODY)).headers.get("retry-after")).toBe("2");
  expect((await gateway.post("/v1/track", call("u"), basic(OTHER_KEY))).status).toBe(200);
});

it("holds for pixels, whose image shows all the same", async () => {
  const pixel = () => fetch(`${gateway.url}/pixel/v1/track?writeKey=${WRITE_KEY}&userId=u&event=E`);
  for (let time = 0; time < 4; time++) expect((await pixel()).status).toBe(200);
  expect(gateway.events()).toHaveLength(2);
  expect(await limited()).toBe(2);
});

/** Keeps the callbacks of later times, in place of the time. */
const holdLate = () => {
  const held: (() => void)[] = [];
  const { setTimeout } = globalThis;
  const hold = (tell: () => void, ms?: number, ...rest: []) =>
    ms !== undefined && ms >= REFUSAL_DELAY_MS && ms < 2 * REFUSAL_DELAY_MS
      ? held.push(tell)
      : setTimeout(tell, ms, ...rest);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(hold as never);
  return held;
};
const LATE = 10;
const inHeader = [`Authorization: ${basic(WRITE_KEY).authorization}`];

it.each<[string, string, readonly string[], object]>([
  ["of one call, its key in the header", "/v1/track", inHeader, call("u")],
  ["of one call, its key in the body", "/v1/track", [], { ...call("u"), writeKey: WRITE_KEY }],
  ["of a batch", "/v1/batch", inHeader, batchOf(2)],
])(
  "is told at once a few times and later after that, also where a request %s had come before the limit was reached",
  async (_which, path, headers, content) => {
    const request = toRequestBytes("POST", path, headers, JSON.stringify(content));
    const bodyBytes = request.length - request.indexOf("\r\n\r\n") - 4;
    const held = holdLate();
    sockets = await Promise.all(Array.from({ length: PROMPT_REFUSALS + LATE }, () => openSocket(gateway.url)));
    const answers = sockets.map(readResponse);
    const reported: (number | undefined)[] = [];
    for (const answer of answers) void answer.then((response) => reported.push(response?.status));
    for (const socket of sockets) socket.write(request.subarray(0, -1));
    await eventually(() => expect(gateway.bodies.heldBytes).toBe(sockets.length * (bodyBytes - 1)));
    expect((await gateway.post("/v1/batch", batchOf(6))).status).toBe(200);
    for (const socket of sockets) socket.write(request.subarray(-1));
    await eventually(() => expect([reported.length, held.length]).toEqual([PROMPT_REFUSALS, LATE]));
    // A request that waits for that holds its connection, and nothing of its body.
    await eventually(() => expect(gateway.bodies.heldBytes).toBe(0));
    expect((await gateway.post("/v1/track", call("u"), basic(OTHER_KEY))).status).toBe(200);
    expect(reported).toHaveLength(PROMPT_REFUSALS);
    for (const tell of held) tell();
    await Promise.all(answers);
    expect(reported).toEqual(Array(PROMPT_REFUSALS + LATE).fill(429));
    expect(await limited()).toBe(PROMPT_REFUSALS + LATE);
  },
);

it("is told so before the body where the limit was reached before", async () => {
  await gateway.post("/v1/batch", batchOf(6));
  const held = holdLate();
  sockets = await Promise.all(Array.from({ length: PROMPT_REFUSALS + LATE }, () => openSocket(gateway.url)));
  const answers = sockets.map(readResponse);
  const request = toRequestBytes("POST", "/v1/track", inHeader, JSON.stringify(call("u")));
  for (const socket of sockets) socket.write(request);
  await eventually(() => expect(held).toHaveLength(LATE));
  expect((await gateway.post("/v1/track", call("u"), basic(OTHER_KEY))).status).toBe(200);
  for (const tell of held) tell();
  expect(new Set((await Promise.all(answers)).map((answer) => answer?.status))).toEqual(new Set([429]));
});

it("is held no longer for a sender that leaves", async () => {
  await gateway.post("/v1/batch", batchOf(6));
  const held = holdLate();
  sockets = await Promise.all(Array.from({ length: PROMPT_REFUSALS + LATE }, () => openSocket(gateway.url)));
  const request = toRequestBytes("POST", "/v1/track", inHeader, JSON.stringify(call("u")));
  for (const socket of sockets) socket.write(request);
  await eventually(() => expect(held).toHaveLength(LATE));
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  for (const socket of sockets) socket.destroy();
  const handles = Array.from({ length: LATE }, (_, index) => index + 1);
  await eventually(() => expect(cleared.mock.calls.map(([handle]) => handle)).toEqual(expect.arrayContaining(handles)));
});
