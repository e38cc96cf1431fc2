import { createHmac } from "node:crypto";
import { eventually } from "@posthaste/testkit/eventually";
import { beforeEach, describe, expect, it } from "vitest";
import { startTestControl } from "./control.ts";
import { control, topics, useControl } from "./use-control.ts";

useControl();

const SECRET = "shared-secret-of-a-destination";

let id: string;
let url: string;
const make = async (input: object = {}) => (await control.call("POST", "/v1/test-receivers", input)).body;
const received = async (receiverId = id, after = 0) =>
  (await control.call("GET", `/v1/test-receivers/${receiverId}?after=${after}`)).body;
const post = (body: string | Buffer, headers: Record<string, string> = {}, to = url) =>
  fetch(to, { method: "POST", headers, body: new Uint8Array(Buffer.from(body)) });

beforeEach(async () => {
  ({ id, url } = await make());
});

describe("a test receiver", () => {
  it("takes what is sent to it without a token, byte for byte", async () => {
    expect(url).toBe(`${control.url}/receive/${id}`);
    const bytes = Buffer.from([0, 255, 123, 10]);
    expect((await post(bytes, { "content-type": "application/json", "x-message-id": "m-7" })).status).toBe(200);
    expect((await fetch(url, { method: "PUT", headers: { "content-type": "odd/type" }, body: "x" })).status).toBe(200);
    const { requests, received: count } = await received();
    expect(count).toBe(2);
    expect(requests).toMatchObject([
      { seq: 1, method: "POST", bytes: 4, signature: "unchecked", headers: { "x-message-id": "m-7" } },
      { seq: 2, method: "PUT", bytes: 1 },
    ]);
    expect(Buffer.from(requests[0].bodyBase64, "base64")).toEqual(bytes);
    expect((await received(id, 1)).requests).toMatchObject([{ seq: 2 }]);
  });

  it("answers with the status and after the delay that are set, and that can be changed", async () => {
    const change = await control.call("PATCH", `/v1/test-receivers/${id}`, { status: 503, delayMs: 200 });
    expect([change.status, change.body.status, change.body.delayMs]).toEqual([200, 503, 200]);
    const beganAt = performance.now();
    expect((await post("x")).status).toBe(503);
    expect(performance.now() - beganAt).toBeGreaterThanOrEqual(190);
    await control.call("PATCH", `/v1/test-receivers/${id}`, { delayMs: 0 });
    expect((await post("x")).status).toBe(503);
    for (const wrong of [{ status: 101 }, { status: 600 }, { delayMs: 10_001 }, { unknown: 1 }]) {
      expect((await control.call("PATCH", `/v1/test-receivers/${id}`, wrong)).status).toBe(400);
    }
  });

  it("TR2: keeps the newest 200 requests, and 64 KB of each body", async () => {
    await post("y".repeat(100_000));
    const [long] = (await received()).requests;
    expect([long.bytes, Buffer.from(long.bodyBase64, "base64").length]).toEqual([100_000, 65_536]);
    for (let n = 0; n < 210; n++) await post(`${n}`);
    const { requests, received: count } = await received();
    expect([requests.length, requests[0].seq, count]).toEqual([200, 12, 211]);
    expect((await post("z".repeat(1_100_000))).status).toBe(413);
  });

  it("TR4: keeps no value of a header that is not a delivery's own", async () => {
    await post("x", { authorization: "Bearer secret-of-an-operator", "x-team": "secret-team" });
    const { requests } = await received();
    expect(requests[0].headers).toMatchObject({ authorization: "***", "x-team": "***" });
    expect(JSON.stringify(requests)).not.toContain("secret");
  });

  it("is one of those that there are", async () => {
    expect((await post("x", {}, `${control.url}/receive/rcv_none`)).status).toBe(404);
    expect((await control.call("GET", "/v1/test-receivers/rcv_none")).status).toBe(404);
    expect((await control.call("PATCH", "/v1/test-receivers/rcv_none", {})).status).toBe(404);
    expect((await control.call("POST", "/v1/test-receivers", { destinationId: "dst_none" })).status).toBe(404);
  });

  it("is made again under the id that it had, where control has forgotten it", async () => {
    const again = { id: "rcv_4k2v8m1n0p3q5r7s" };
    expect((await make(again)).url).toBe(`${control.url}/receive/${again.id}`);
    expect((await control.call("POST", "/v1/test-receivers", again)).status).toBe(409);
    expect((await control.call("POST", "/v1/test-receivers", { id: "rcv_1" })).status).toBe(400);
  });

  it("TR1: gives way to newer ones where there are twenty, the longest idle first", async () => {
    const first = await make();
    const made = [];
    for (let n = 0; n < 19; n++) made.push(await make());
    // Asked for, so that it is not the one that was idle longest.
    await eventually(async () => expect((await received(first.id)).id).toBe(first.id));
    await make();
    const { data } = (await control.call("GET", "/v1/test-receivers")).body;
    expect(data).toHaveLength(20);
    expect(data.map((each: { id: string }) => each.id)).toContain(first.id);
  });
});

describe("X-Signature at a receiver that was made for a destination", () => {
  const sign = (body: string, secret: string) => createHmac("sha1", secret).update(body).digest("hex");
  const makeDestination = async (settings: object) => {
    const input = {
      type: "Webhooks",
      name: "Signed",
      settings: { urls: [{ url: "http://127.0.0.1:1/" }], ...settings },
    };
    return (await control.call("POST", "/v1/destinations", input)).body.id as string;
  };
  const states = async (receiverId: string) =>
    (await received(receiverId)).requests.map(({ signature }: { signature: string }) => signature);

  it("is valid by its secret or by the next one, and else is not", async () => {
    const destinationId = await makeDestination({ sharedSecret: SECRET });
    const mine = await make({ destinationId });
    await post("body", { "x-signature": sign("body", SECRET) }, mine.url);
    await post("body", { "x-signature": sign("body", "another") }, mine.url);
    await post("body", { "x-signature": "short" }, mine.url);
    await post("body", {}, mine.url);
    await control.call("POST", `/v1/destinations/${destinationId}/secret/next`, {
      sharedSecret: "the-next-shared-secret",
    });
    await post("body", { "x-signature": sign("body", "the-next-shared-secret") }, mine.url);
    expect(await states(mine.id)).toEqual(["valid", "invalid", "invalid", "missing", "valid"]);
    expect(JSON.stringify(await received(mine.id))).not.toContain(SECRET);
  });

  it("is that of a real test-send", async () => {
    const mine = await make();
    const destinationId = await makeDestination({ sharedSecret: SECRET, urls: [{ url: mine.url }] });
    await control.call("PATCH", `/v1/test-receivers/${mine.id}`, { destinationId });
    const { body } = await control.call("POST", `/v1/destinations/${destinationId}/test`, {});
    expect(body.urls).toMatchObject([{ outcome: "delivered", status: 200 }]);
    expect(await states(mine.id)).toEqual(["valid"]);
    expect((await received(mine.id)).requests[0].headers["x-message-id"]).toBe(body.messageId);
  });

  it("is not checked where the destination has no secret", async () => {
    const mine = await make({ destinationId: await makeDestination({}) });
    await post("body", { "x-signature": "00" }, mine.url);
    expect(await states(mine.id)).toEqual(["unchecked"]);
  });
});

it("there are none where they are not turned on", async () => {
  const off = await startTestControl(topics, { env: { POSTHASTE_TEST_RECEIVER: "false" } });
  const { status, body } = await off.call("POST", "/v1/test-receivers", {});
  expect([status, body.detail]).toEqual([409, expect.stringContaining("POSTHASTE_TEST_RECEIVER=true")]);
  expect((await fetch(`${off.url}/receive/${id}`, { method: "POST" })).status).toBe(401);
  await off.stop();
});
