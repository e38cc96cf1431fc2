import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BodySender } from "../src/body/body-budget.ts";
import { createBodyReader } from "../src/body/read-body.ts";
import { READY_FULL_MS } from "../src/limits.ts";
import { openSocket, readResponse, toRequestBytes } from "./raw-request.ts";
import { RECEIVED_AT_MS, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

let gateway: TestGateway;
let nowMs: number;
let sockets: Socket[];
beforeEach(async () => {
  nowMs = 1000;
  sockets = [];
  const clock = { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => nowMs };
  gateway = await startTestGateway({ clock, maxPendingBytes: 10_000_000 });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await gateway.close();
});

const BASIC = `Authorization: Basic ${Buffer.from(`${WRITE_KEY}:`).toString("base64")}`;
const call = (note: string) => JSON.stringify({ userId: "u", event: "E", properties: { note } });
const requestWith = (body: string | Buffer, path = "/v1/track", method = "POST", headers: readonly string[] = []) =>
  toRequestBytes(method, path, [BASIC, ...headers], body);
const connect = async (): Promise<Socket> => {
  const socket = await openSocket(gateway.url);
  sockets.push(socket);
  return socket;
};
const eventuallyHeld = (bytes: number) => eventually(() => expect(gateway.bodies.heldBytes).toBe(bytes));
/** The brokers acknowledge nothing until `resolve`. */
const holdAcknowledgements = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.producer.acknowledge = () => promise;
  return resolve;
};

const KNOWN: BodySender = { source: "src-test", address: "::1" };

/** One reading of a text as a body. */
const readText = (bodies: ReturnType<typeof createBodyReader>, text: string) => {
  const request = Object.assign(Readable.from([Buffer.from(text)]), { headers: {} });
  const held = bodies.read(request, KNOWN);
  return { body: held.content, held };
};

it("refuses bodies while more is held than may be, and takes them again after (RB1)", async () => {
  const bodies = createBodyReader({ maxHeldBytes: 10, monotonicMs: () => nowMs });
  const first = readText(bodies, "123456");
  await first.body;
  expect(await readText(bodies, "123456").body).toMatchObject({ status: 503, retryAfterS: 1 });
  expect(bodies.heldBytes).toBe(6);
  first.held.release();
  expect(await readText(bodies, "123456").body).toMatchObject({ bytes: Buffer.from("123456") });
  expect(bodies.heldBytes).toBe(6);
});

it("gives a body's bytes back once, however often it is told to, and keeps none that come after (RB3)", async () => {
  const bodies = createBodyReader({ monotonicMs: () => nowMs });
  const first = readText(bodies, "123456");
  await first.body;
  const second = readText(bodies, "1234");
  await second.body;
  first.held.release();
  first.held.release();
  expect(bodies.heldBytes).toBe(4);
  const late = readText(bodies, "123");
  late.held.release();
  await late.body;
  expect(bodies.heldBytes).toBe(4);
});

describe("a body's bytes are held until the answer, and given back after it (RB3), for", () => {
  it.each<[string, Buffer, number]>([
    ["a call that is taken", requestWith(call("x")), 200],
    ["a body that is no JSON", requestWith("{{"), 400],
    ["a body that is not looked at", requestWith("{}", "/v1/m"), 200],
    ["a path that is not there", requestWith(call("x"), "/nowhere"), 404],
    ["a method that is not taken", requestWith(call("x"), "/v1/track", "PUT"), 405],
    [
      "a body that is not what its encoding says",
      requestWith(call("x"), "/v1/track", "POST", ["Content-Encoding: gzip"]),
      400,
    ],
    [
      "a key that no source has",
      toRequestBytes("POST", "/v1/track", [], call("x").replace("{", `{"writeKey":"no",`)),
      401,
    ],
  ])("%s", async (_name, bytes, status) => {
    const socket = await connect();
    const answered = readResponse(socket);
    const bodyBytes = bytes.length - bytes.indexOf("\r\n\r\n") - 4;
    socket.write(bytes.subarray(0, -1));
    await eventuallyHeld(bodyBytes - 1);
    socket.write(bytes.subarray(-1));
    expect(await answered).toMatchObject({ status });
    await eventuallyHeld(0);
  });

  it("a call whose handling fails", async () => {
    const faulty = await startTestGateway({
      encodeEvent: () => {
        throw new Error("no such schema");
      },
    });
    expect((await faulty.post("/v1/track", call("x"))).status).toBe(500);
    await eventually(() => expect(faulty.bodies.heldBytes).toBe(0));
    await faulty.close();
  });
});

describe("a client that leaves before its answer leaves nothing held (RB3):", () => {
  const BODY = call("x".repeat(20_000));

  it("60 of them while the brokers acknowledge nothing, and their answers give nothing back again", async () => {
    const acknowledge = holdAcknowledgements();
    await Promise.all(Array.from({ length: 60 }, async () => (await connect()).write(requestWith(BODY))));
    await eventually(() => expect(gateway.events()).toHaveLength(60));
    expect(gateway.bodies.heldBytes).toBe(60 * BODY.length);
    for (const socket of sockets) socket.destroy();
    await eventuallyHeld(0);
    acknowledge();
    const last = await connect();
    last.write(requestWith(call("x")).subarray(0, -1));
    await eventuallyHeld(call("x").length - 1);
  });

  it("one whose second request waits behind the first", async () => {
    holdAcknowledgements();
    const socket = await connect();
    socket.write(Buffer.concat([requestWith(BODY), requestWith(BODY), requestWith(BODY).subarray(0, -1)]));
    await eventuallyHeld(3 * BODY.length - 1);
    socket.destroy();
    await eventuallyHeld(0);
  });

  it("one without a key that is known, which the table of sources is read for", async () => {
    await gateway.close();
    gateway = await startTestGateway({ refreshSources: () => new Promise(() => {}) });
    const socket = await connect();
    socket.write(toRequestBytes("POST", "/v1/track", [], BODY.replace("{", `{"writeKey":"no",`)));
    await eventuallyHeld(BODY.length + `"writeKey":"no",`.length);
    socket.destroy();
    await eventuallyHeld(0);
  });
});

describe("the room for bodies", () => {
  beforeEach(async () => {
    await gateway.close();
    const clock = { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => nowMs };
    gateway = await startTestGateway({ clock, maxHeldBodyBytes: 10_000 });
  });

  it("is told in a gauge", async () => {
    (await connect()).write(requestWith(call("x")).subarray(0, -1));
    await eventuallyHeld(call("x").length - 1);
    expect(await gateway.registry.metrics()).toContain(`posthaste_ingest_body_bytes ${call("x").length - 1}\n`);
  });

  it("makes the process not ready once it was full for a while and calls are refused for it", async () => {
    const acknowledge = holdAcknowledgements();
    const waiting = gateway.post("/v1/track", call("x".repeat(8_100)));
    await eventually(() => expect(gateway.events()).toHaveLength(1));
    gateway.producer.acknowledge = () => Promise.resolve();
    nowMs += READY_FULL_MS;
    expect(gateway.readiness()).toEqual({ bodies: true });

    const refused = await gateway.post("/v1/track", call("y".repeat(2_000)));
    expect(refused.status).toBe(503);
    expect(gateway.readiness()).toEqual({ bodies: true });
    nowMs += READY_FULL_MS - 1;
    expect(gateway.readiness()).toEqual({ bodies: true });
    // That small ones come and go meanwhile makes it no less full, and that another is refused makes it full no later.
    expect((await gateway.post("/v1/track", call("y".repeat(2_000)))).status).toBe(503);
    expect((await gateway.post("/v1/track", call("z"))).status).toBe(200);
    nowMs += 1;
    expect(gateway.readiness()).toEqual({
      bodies: expect.stringMatching(/^no room for 5000 ms: 8\d{3} bytes are held/),
    });

    acknowledge();
    expect((await waiting).status).toBe(200);
    await eventuallyHeld(0);
    expect(gateway.readiness()).toEqual({ bodies: true });
    expect((await gateway.post("/v1/track", call("y".repeat(2_000)))).status).toBe(200);
  });
});

describe("bodies that stop before their end", () => {
  const ROOM = 1_000_000;
  const NO_KEY = (bytes: number) => toRequestBytes("POST", "/v1/track", [], "x".repeat(bytes)).subarray(0, -1);
  const KEY_IN_BODY = `{"writeKey":"${WRITE_KEY}",${call("y").slice(1)}`;

  beforeEach(async () => {
    await gateway.close();
    const clock = { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => nowMs };
    gateway = await startTestGateway({
      clock,
      maxHeldBodyBytes: ROOM,
      trustedProxies: ["127.0.0.1"],
      timeouts: { headersMs: 10_000, requestMs: 300_000, checkMs: 20 },
    });
  });
  const from = (address: number, bytes: Buffer) =>
    Buffer.from(bytes.toString("latin1").replace("\r\n", `\r\nX-Forwarded-For: 192.0.2.${address}\r\n`), "latin1");
  /** Fifty bodies of so many bytes, each from an address of its own, of which none comes to its end. */
  const stall = async (bytes: Buffer) => {
    for (let number = 0; number < 50; number++) (await connect()).write(from(number, bytes));
  };
  const held = () => gateway.bodies.heldBytes;

  it.each([
    ["large", 200_000, ROOM / 2],
    ["small", 16_000, (3 / 4) * ROOM],
  ])("and have no key in a header take a part of the room when they are %s", async (_kind, size, most) => {
    await stall(NO_KEY(size));
    await eventually(() => expect(held()).toBeGreaterThan(most / 3));
    const post = await gateway.post("/v1/batch", { batch: [], padding: ["x".repeat(200_000)] });
    expect(post.status).toBe(200);
    expect(held()).toBeLessThanOrEqual(most + 50 * 16_384);
    expect(gateway.readiness()).toEqual({ bodies: true });
  });

  it("from one address take a quarter of it", async () => {
    for (let number = 0; number < 50; number++) (await connect()).write(from(1, NO_KEY(16_000)));
    await eventually(() => expect(held()).toBeGreaterThan(ROOM / 5));
    expect((await fetchFrom(1, 12_000)).status).toBe(503);
    expect((await fetchFrom(2, 12_000)).status).toBe(200);
    expect(held()).toBeLessThanOrEqual(ROOM / 4);
  });

  it("give way to those that come after a second, the slowest first, and are told so", async () => {
    const slow = await connect();
    const reported = readResponse(slow);
    slow.write(from(1, NO_KEY(15_000)).subarray(0, -5_000));
    await eventuallyHeld(9_999);
    nowMs += 500;
    for (let number = 0; number < 15; number++) (await connect()).write(from(1, NO_KEY(15_900)));
    await eventuallyHeld(9_999 + 15 * 15_899);
    expect((await fetchFrom(1, 8_000)).status).toBe(503);
    nowMs += 700;
    expect((await fetchFrom(1, 8_000)).status).toBe(200);
    expect(await reported).toMatchObject({ status: 408, headers: { connection: "close" } });
    await eventuallyHeld(15 * 15_899);
  });

  it("are cut off when less than a kilobyte comes in ten seconds, with a known key too", async () => {
    const socket = await connect();
    const answered = readResponse(socket);
    socket.write(requestWith("x".repeat(10_000)).subarray(0, -9_000));
    await eventuallyHeld(1_000);
    nowMs += 9_999;
    socket.write("x".repeat(23));
    // The rest is copied into a block.
    await eventuallyHeld(1_000 + 1_024);
    nowMs += 1;
    expect(await answered).toMatchObject({ status: 408 });
    await eventuallyHeld(0);

    const quick = await connect();
    quick.write(requestWith("x".repeat(10_000)).subarray(0, -8_000));
    await eventuallyHeld(2_000);
    nowMs += 10_000;
    quick.write("x".repeat(500));
    await eventuallyHeld(2_000 + 2_000);
  });

  const fetchFrom = (address: number, padding = 0) =>
    fetch(`${gateway.url}/v1/track`, {
      method: "POST",
      headers: { "x-forwarded-for": `192.0.2.${address}` },
      body: KEY_IN_BODY.padEnd(padding),
    });
});

it("refuses a body that comes byte by byte, whose key is in it alone, and tells why", async () => {
  const socket = await connect();
  const answered = readResponse(socket);
  socket.write("POST /v1/track HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  socket.write("1\r\n{\r\n".repeat(50_000));
  const answer = await answered;
  expect(answer).toMatchObject({ status: 400, headers: { connection: "close" } });
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ code: "body_cut_too_small" });
  socket.destroy();
  await eventuallyHeld(0);
});
