/**
 * One source beside another that sends everything it can. The steps and their order are counted and not timed: where
 * time matters, the gateway's clock is the test's, and each event takes some of it.
 */
import { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../src/gateway.ts";
import { ANSWERS_ROUND_MS, MAX_ACTIVE_REQUESTS, MAX_WAITING_WORK_MS, STRANGERS_ROUND_MS } from "../src/limits.ts";
import { openSocket, readResponse, toRequestBytes } from "./raw-request.ts";
import { RECEIVED_AT_MS, SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

const OTHER_KEY = "wk-other";
const EVENT_MS = 100;

let gateway: TestGateway;
let sockets: Socket[];
const start = async (options: Partial<GatewayOptions> = {}) => {
  sockets = [];
  gateway = await startTestGateway({ maxPendingBytes: 1_000_000_000, ...options });
  gateway.writeKeys.apply("other", { ...SOURCE, id: "other", writeKeys: [{ key: OTHER_KEY, expiresAtMs: null }] });
};
/** A clock that goes on by so much whenever it is read, so that the machine has no say in how long work takes. */
const clockOf = (stepMs: number) => {
  let nowMs = 0;
  const monotonicMs = () => {
    nowMs += stepMs;
    return nowMs;
  };
  return { nowMs: () => RECEIVED_AT_MS, monotonicMs };
};
/** Each event takes so long by the gateway's clock. */
const startWithSlowEvents = async (options: Partial<GatewayOptions> = {}) => {
  let nowMs = 0;
  await start({
    ...options,
    clock: { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => nowMs },
    encodeEvent: (event) => {
      nowMs += EVENT_MS;
      return Buffer.from(JSON.stringify(event));
    },
  });
};
/** Keeps the next rounds of work and answers from beginning until the answer is called. */
const holdRounds = () => {
  const held: (() => void)[] = [];
  const spy = vi.spyOn(globalThis, "setImmediate");
  spy.mockImplementation(((round: () => void) => held.push(round)) as never);
  return () => {
    spy.mockRestore();
    for (const round of held) setImmediate(round);
  };
};
afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  await gateway.close();
});

const CALL = { type: "track", userId: "u", event: "E" };
const basic = (key: string) => `Basic ${btoa(`${key}:`)}`;
const ask = (key = OTHER_KEY) => gateway.post("/v1/track", CALL, { authorization: basic(key) });
const eventsOf = (sourceId: string) => gateway.events().filter((event) => event.sourceId === sourceId).length;

/** Sends the same on so many connections at once. */
const flood = async (connections: number, bytes: Buffer) => {
  const opened = await Promise.all(Array.from({ length: connections }, () => openSocket(gateway.url)));
  sockets.push(...opened);
  // The server accepts one at a time; later requests come at once.
  for (const socket of opened) socket.write("OPTIONS /v1/track HTTP/1.1\r\nHost: x\r\n\r\n");
  await Promise.all(opened.map(readResponse));
  const answers = opened.map(readResponse);
  for (const socket of opened) socket.write(bytes);
  return answers;
};
const single = toRequestBytes("POST", "/v1/track", [`Authorization: ${basic(WRITE_KEY)}`], JSON.stringify(CALL));
const singleOfOther = toRequestBytes("POST", "/v1/track", [`Authorization: ${basic(OTHER_KEY)}`], JSON.stringify(CALL));
const singleWithQuery = toRequestBytes("POST", `/v1/track?writeKey=${WRITE_KEY}`, [], JSON.stringify(CALL));
const pixel = toRequestBytes("GET", `/pixel/v1/track?writeKey=${WRITE_KEY}&event=E&userId=u`, []);
const singleWithKey = toRequestBytes("POST", "/v1/track", [], JSON.stringify({ ...CALL, writeKey: WRITE_KEY }));

it("a call does not wait for another source's long batches that came before it", async () => {
  await start();
  const batch = `{"batch":[${Array.from({ length: 8_000 }, () => JSON.stringify(CALL)).join(",")}]}`;
  const headers = [`Authorization: ${basic(WRITE_KEY)}`];
  const answers = await flood(10, toRequestBytes("POST", "/v1/batch", headers, batch));
  await eventually(() => expect(gateway.bodies.heldBytes).toBeGreaterThanOrEqual(10 * batch.length));
  expect((await ask()).status).toBe(200);
  expect(eventsOf(SOURCE.id)).toBeLessThan(3 * 8_000);
  for (const answer of await Promise.all(answers)) expect(answer?.status).toBe(200);
  expect(eventsOf(SOURCE.id)).toBe(10 * 8_000);
});

it.each([
  ["in the header", single],
  ["in the body", singleWithKey],
])(
  "who has more work waiting than its share is told 429, its key %s, and the other is not",
  async (_where, request) => {
    await startWithSlowEvents();
    for (let call = 0; call < 40; call++) expect((await ask(WRITE_KEY)).status).toBe(200);
    const bytes = request.length - request.indexOf("\r\n\r\n") - 4;
    const waiting = MAX_WAITING_WORK_MS / EVENT_MS;
    // Nothing that waits is done before all of them have come: each is answered or waits with its body.
    const goOn = holdRounds();
    const answers = await flood(4 * waiting, request);
    const statuses: (number | undefined)[] = [];
    for (const answer of answers) void answer.then((response) => statuses.push(response?.status));
    await eventually(() => expect(statuses.length + gateway.bodies.heldBytes / bytes).toBe(4 * waiting));
    const held = gateway.bodies.heldBytes;
    const [other] = await flood(1, singleOfOther);
    await eventually(() => expect(gateway.bodies.heldBytes).toBeGreaterThan(held));
    goOn();
    expect((await other)?.status).toBe(200);
    for (let call = 0; call < 5; call++) expect((await ask()).status).toBe(200);
    await Promise.all(answers);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(waiting);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(waiting);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  },
);

it("who has more under way than its share while the process is busy is told 429, and the other is not", async () => {
  // Longer than a busy machine takes to send them all.
  await startWithSlowEvents({ acknowledgeTimeoutMs: 60_000 });
  for (let call = 0; call < 40; call++) expect((await ask(WRITE_KEY)).status).toBe(200);
  gateway.producer.acknowledge = () => new Promise(() => {});
  for (let sent = 40; sent < 40 + MAX_ACTIVE_REQUESTS; sent++) {
    // Those with the key in the body count as those with it in the header.
    await flood(1, sent % 2 === 0 ? single : singleWithKey);
    await eventually(() => expect(eventsOf(SOURCE.id)).toBe(sent + 1));
  }
  gateway.producer.acknowledge = () => Promise.resolve();
  for (let call = 0; call < 3; call++) expect((await ask(WRITE_KEY)).status).toBe(200);
  for (let call = 0; call < 3; call++) {
    expect((await ask()).status).toBe(200);
    expect((await ask(WRITE_KEY)).status).toBe(429);
  }
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect((await ask(WRITE_KEY)).status).toBe(200));
});

it("who connects does not wait for as much work of others as connections come before it", async () => {
  await startWithSlowEvents();
  const answers = await flood(300, single);
  await eventually(() => expect(eventsOf(SOURCE.id)).toBeGreaterThan(0));
  const opened = await Promise.all(Array.from({ length: 100 }, () => openSocket(gateway.url)));
  sockets.push(...opened);
  const last = opened.at(-1);
  const answer = last && readResponse(last);
  last?.write(toRequestBytes("POST", "/v1/track", [`Authorization: ${basic(OTHER_KEY)}`], JSON.stringify(CALL)));
  const before = eventsOf(SOURCE.id);
  expect((await answer)?.status).toBe(200);
  expect(eventsOf(SOURCE.id) - before).toBeLessThan(50);
  await Promise.all(answers);
});

it.each([
  ["directly", single],
  ["by the framework", singleWithQuery],
  ["as a pixel", pixel],
])(
  "an answer does not wait for another source's, asked for %s, acknowledged at the same moment",
  async (_how, request) => {
    // By this clock writing an answer takes a third of a round's time for that, or more.
    await start({ clock: clockOf(ANSWERS_ROUND_MS / 3), acknowledgeTimeoutMs: 60_000 });
    const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gateway.producer.acknowledge = () => first.promise;
    const answers = await flood(40, request);
    await eventually(() => expect(eventsOf(SOURCE.id)).toBe(40));
    gateway.producer.acknowledge = () => last.promise;
    const asked = ask();
    await eventually(() => expect(eventsOf("other")).toBe(1));
    const written: (string | undefined)[] = [];
    const { writeHead } = ServerResponse.prototype;
    vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(function (this: ServerResponse, ...head) {
      written.push(this.req.headers.authorization);
      return writeHead.apply(this, head);
    });
    first.resolve();
    // Within the same round of the event loop, when the others' answers are there.
    for (let microtask = 0; microtask < 100; microtask++) await null;
    last.resolve();
    expect((await asked).status).toBe(200);
    await Promise.all(answers);
    expect(written).toHaveLength(41);
    expect(written.slice(0, 5)).toContain(basic(OTHER_KEY));
  },
);

it("who has as much waiting for the brokers as is left is told 503, and the other is not", async () => {
  await start({ maxPendingBytes: 1_000_000 });
  gateway.producer.acknowledge = () => new Promise(() => {});
  const large = JSON.stringify({ ...CALL, properties: { note: "x".repeat(30_000) } });
  const headers = [`Authorization: ${basic(WRITE_KEY)}`];
  await flood(18, toRequestBytes("POST", "/v1/track", headers, large));
  await eventually(() => expect(eventsOf(SOURCE.id)).toBe(18));
  gateway.producer.acknowledge = () => Promise.resolve();
  gateway.producer.pendingBytes = 400_000;
  expect((await ask(WRITE_KEY)).status).toBe(200);
  gateway.producer.pendingBytes = 600_000;
  expect((await ask(WRITE_KEY)).status).toBe(503);
  expect((await ask()).status).toBe(200);
});

it("what waits for its turn is not kept when its sender leaves", async () => {
  await start();
  const batch = `{"batch":[${Array.from({ length: 8_000 }, () => JSON.stringify(CALL)).join(",")}]}`;
  await flood(10, toRequestBytes("POST", "/v1/batch", [`Authorization: ${basic(WRITE_KEY)}`], batch));
  await eventually(() => expect(gateway.bodies.heldBytes).toBeGreaterThanOrEqual(10 * batch.length));
  for (const socket of sockets) socket.destroy();
  await eventually(() => expect(gateway.bodies.heldBytes).toBe(0));
  expect((await ask()).status).toBe(200);
  // The one that was begun goes on to its end.
  expect(eventsOf(SOURCE.id)).toBeLessThanOrEqual(2 * 8_000);
});

it.each([
  ["in the header", [`Authorization: ${basic("wk-new")}`]],
  ["in the body", []],
])("who left while its source was looked for has nothing under way, its key %s", async (_where, headers) => {
  const refreshed = Promise.withResolvers<void>();
  await startWithSlowEvents({ refreshSources: () => refreshed.promise });
  const call = JSON.stringify({ ...CALL, writeKey: "wk-new" });
  await flood(MAX_ACTIVE_REQUESTS, toRequestBytes("POST", "/v1/track", headers, call));
  // They have come, and are gone, when later requests were answered.
  for (let after = 0; after < 20; after++) expect((await ask()).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  for (let after = 0; after < 20; after++) expect((await ask()).status).toBe(200);
  gateway.writeKeys.apply("new", { ...SOURCE, id: "new", writeKeys: [{ key: "wk-new", expiresAtMs: null }] });
  refreshed.resolve();
  for (let after = 0; after < 20; after++) expect((await ask()).status).toBe(200);
  await eventually(async () => expect((await ask("wk-new")).status).toBe(200));
});

it("a batch whose key is in its compressed body alone is taken beside a crowd, at once or sent again", async () => {
  // By this clock a body takes as much of a round as strangers have, and all that wait are far from a second's work.
  await start({ trustedProxies: ["127.0.0.1"], clock: clockOf(STRANGERS_ROUND_MS) });
  const batchOf = (writeKey: string) =>
    gzipSync(
      JSON.stringify({ batch: Array.from({ length: 80 }, () => ({ ...CALL, note: "x".repeat(4_000) })), writeKey }),
    );
  const GZIP = { "content-encoding": "gzip" };
  const send = (body: Uint8Array, address: string) =>
    gateway.post("/v1/batch", body, { ...GZIP, authorization: "", "x-forwarded-for": address });
  const strangers = await flood(
    200,
    toRequestBytes("POST", "/v1/batch", ["Content-Encoding: gzip", "X-Forwarded-For: 203.0.113.1"], batchOf("no")),
  );
  let isOver = false;
  void Promise.all(strangers).then(() => {
    isOver = true;
  });
  // Of an address that sends nothing else it is taken as it comes.
  expect((await send(batchOf(WRITE_KEY), "203.0.113.2")).status).toBe(200);
  // Of the crowd's own address it is asked for again at worst.
  for (let status = 0; status !== 200; ) {
    const wasOver = isOver;
    const response = await send(batchOf(OTHER_KEY), "203.0.113.1");
    ({ status } = response);
    if (status === 200) continue;
    expect(wasOver, "asked for again when nothing else came any more").toBe(false);
    expect(status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
  }
  // How many of them wait at once, and so how many are told 503, is the machine's: TC4 of take-calls.ts.
  for (const answer of await Promise.all(strangers)) expect([401, 503]).toContain(answer?.status);
});
