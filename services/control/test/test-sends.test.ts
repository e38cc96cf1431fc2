import { createHmac } from "node:crypto";
import { EVENT_TYPES } from "@posthaste/core/event/event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";

const ACTIVE = "active-shared-secret";
const NEXT = "next-shared-secret";

let topics: TestTopics;
let control: TestControl;
let receiver: Receiver;
let id: string;

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics);
  receiver = await startReceiver();
});

afterAll(async () => {
  expect(control.logged()).not.toMatch(/active-shared-secret|next-shared-secret|header-value/);
  await receiver.close();
  await control.stop();
  await topics.remove();
});

beforeEach(async () => {
  receiver.clear();
  const { status, body } = await control.call("POST", "/v1/destinations", {
    type: "Webhooks",
    name: "tested",
    enabled: false,
    settings: {
      sharedSecret: ACTIVE,
      urls: [{ url: `${receiver.url}/good`, headers: { "X-Team": "header-value" } }, { url: `${receiver.url}/bad` }],
    },
  });
  expect(status).toBe(201);
  id = body.id;
});

const signature = (secret: string, body: Buffer): string => createHmac("sha1", secret).update(body).digest("hex");

describe("a test-send", () => {
  it("tells of each URL what was sent and what it answered, with what is secret masked", async () => {
    receiver.script("/good", { status: 202, body: "thanks for header-value" });
    receiver.script("/bad", { status: 500, body: "no" });
    const { status, body, text } = await control.call("POST", `/v1/destinations/${id}/test`);
    expect(status).toBe(200);
    const [good, bad] = body.urls;
    expect(good).toMatchObject({ url: `${receiver.url}/good`, outcome: "delivered", status: 202, error: null });
    expect(bad).toMatchObject({ url: `${receiver.url}/bad`, outcome: "retryable", status: 500, answer: "no" });
    expect(good.durationMs).toBeGreaterThanOrEqual(0);

    const [arrived] = receiver.requestsTo("/good");
    expect(arrived?.headers["x-team"]).toBe("header-value");
    expect(arrived?.headers["x-message-id"]).toBe(body.messageId);
    expect(arrived?.headers["x-attempt"]).toBe("1");
    expect(arrived?.headers["x-signature"]).toBe(signature(ACTIVE, arrived?.body ?? Buffer.of()));
    expect(good.body).toBe(arrived?.body.toString());
    expect(good.headers["X-Team"]).toBe("***");
    expect(text).not.toMatch(/header-value|active-shared-secret/);
  });

  it("is signed by the next secret when asked, while deliveries still go by the active one", async () => {
    const refused = await control.call("POST", `/v1/destinations/${id}/test`, { signWith: "next" });
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      `${id} has no next secret: name one at /secret/next first`,
    ]);
    await control.call("POST", `/v1/destinations/${id}/secret/next`, { sharedSecret: NEXT });
    await control.call("POST", `/v1/destinations/${id}/test`, { signWith: "next" });
    await control.call("POST", `/v1/destinations/${id}/test`);
    const signed = receiver.requestsTo("/good").map(({ headers, body }) => ({
      byNext: headers["x-signature"] === signature(NEXT, body),
      byActive: headers["x-signature"] === signature(ACTIVE, body),
    }));
    expect(signed).toEqual([
      { byNext: true, byActive: false },
      { byNext: false, byActive: true },
    ]);
  });

  it.each(EVENT_TYPES)("can be of the type %s, in the shape that deliveries of it have", async (type) => {
    const { status, body } = await control.call("POST", `/v1/destinations/${id}/test`, { type });
    expect([status, body.type]).toEqual([200, type]);
    const sent = JSON.parse(receiver.requestsTo("/good")[0]?.body.toString() ?? "");
    expect(sent).toMatchObject(type === "delete" ? { type } : { type, version: 1 });
  });

  it("refuses a type that there is none of", async () => {
    const { status, body } = await control.call("POST", `/v1/destinations/${id}/test`, { type: "Track" });
    expect([status, body.detail]).toEqual([
      400,
      "type: expected one of page, screen, identify, track, alias, group, delete",
    ]);
  });

  it("sends nothing to an address that webhooks may not reach", async () => {
    await control.call("PATCH", `/v1/destinations/${id}`, {
      settings: { urls: [{ url: "http://10.1.2.3/hook" }] },
    });
    const { body } = await control.call("POST", `/v1/destinations/${id}/test`);
    expect(body.urls).toMatchObject([{ outcome: "permanent", status: null, error: "address_refused" }]);
  });
});

describe("the operator's networks and ports", () => {
  it.each([
    ["a denied network", { POSTHASTE_DENY_NETWORKS: "127.0.0.1/32" }],
    ["a port that is not named", { POSTHASTE_WEBHOOK_PORTS: "443" }],
  ])("keep a test-send from %s", async (_what, env) => {
    const closed = await startTestControl(topics, { env });
    try {
      const { body } = await closed.call("POST", `/v1/destinations/${id}/test`);
      expect(body.urls).toMatchObject([{ error: "address_refused" }, { error: "address_refused" }]);
      expect(receiver.requests).toEqual([]);
    } finally {
      await closed.stop();
    }
  });
});
