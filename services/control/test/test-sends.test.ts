import { createHmac } from "node:crypto";
import { EVENT_TYPES } from "@posthaste/core/event/event";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestControl } from "./control.ts";
import { control, topics, useControl } from "./use-control.ts";

const ACTIVE = "active-shared-secret";
const NEXT = "next-shared-secret";

let receiver: Receiver;
let id: string;

useControl();

beforeAll(async () => {
  receiver = await startReceiver();
});

afterAll(async () => {
  expect(control.logged()).not.toMatch(/active-shared-secret|next-shared-secret|typed-shared-secret|header-value/);
  await receiver.close();
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
    expect([refused.status, refused.body.detail]).toEqual([409, `${id} has no next secret: name one first`]);
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

describe("a test of settings that nobody saved", () => {
  const test = (body: object) => control.call("POST", "/v1/destinations/test", body);
  const good = () => `${receiver.url}/good`;

  it("sends to their URLs by what was typed, and keeps nothing of it", async () => {
    const sharedSecret = "typed-shared-secret";
    const urls = [{ url: `${receiver.url}/typed`, headers: { "X-Typed": "header-value" } }];
    const before = (await control.call("GET", "/v1/destinations?limit=200")).body.data.length;
    const { status, body, text } = await test({ settings: { sharedSecret, urls }, type: "identify" });
    expect([status, body.type, body.urls.length]).toEqual([200, "identify", 1]);
    const [arrived] = receiver.requestsTo("/typed");
    expect(arrived?.headers).toMatchObject({ "x-typed": "header-value", "x-message-id": body.messageId });
    expect(arrived?.headers["x-signature"]).toBe(signature(sharedSecret, arrived?.body ?? Buffer.of()));
    expect(text).not.toMatch(/header-value|typed-shared-secret/);
    expect((await control.call("GET", "/v1/destinations?limit=200")).body.data).toHaveLength(before);
  });

  it("goes by what is stored where it is masked or absent, at the URLs that it is stored for", async () => {
    const masked = [{ url: good(), headers: { "x-team": "***" } }];
    const forms = [{}, { sharedSecret: { set: true } }, { sharedSecret: "***" }, { urls: masked, sharedSecret: "***" }];
    for (const settings of forms) {
      receiver.clear();
      expect((await test({ destinationId: id, settings })).status).toBe(200);
      const [arrived] = receiver.requestsTo("/good");
      expect(arrived?.headers["x-team"]).toBe("header-value");
      expect(arrived?.headers["x-signature"]).toBe(signature(ACTIVE, arrived?.body ?? Buffer.of()));
    }
  });

  it("UD1 of unsaved-destination.ts: gives nothing that is stored to another URL", async () => {
    await control.call("POST", `/v1/destinations/${id}/secret/next`, { sharedSecret: NEXT });
    const urls = [{ url: good() }, { url: `${receiver.url}/elsewhere` }];
    const secrets = [undefined, "***", { set: true }, ACTIVE];
    for (const sharedSecret of secrets) {
      const { status, body } = await test({
        destinationId: id,
        settings: { sharedSecret, urls, standardWebhooks: true },
      });
      expect([status, body.errors[0]?.path]).toEqual([400, "settings.urls[1].url"]);
    }
    const header = { urls: [{ url: `${receiver.url}/elsewhere`, headers: { "X-Team": "***" } }], sharedSecret: null };
    const refused = await test({ destinationId: id, settings: header });
    expect([refused.status, refused.body.errors[0]?.path]).toEqual([400, "settings.urls[0].headers.X-Team"]);
    expect(receiver.requestsTo("/elsewhere")).toEqual([]);

    const unsigned = await test({ destinationId: id, settings: { urls, sharedSecret: null } });
    expect(unsigned.status).toBe(200);
    expect(receiver.requestsTo("/elsewhere")[0]?.headers["x-signature"]).toBeUndefined();
    const typed = await test({ destinationId: id, settings: { urls, sharedSecret: "typed-shared-secret" } });
    expect(typed.status).toBe(200);
  });

  it("is kept from addresses as every request is, and says so at the URL", async () => {
    const { body } = await test({ settings: { urls: [{ url: "http://169.254.169.254/latest" }] } });
    expect(body.urls).toMatchObject([{ outcome: "permanent", status: null, error: "address_refused" }]);
  });

  it.each([
    [{ settings: {} }, 400, /^settings.urls: at least one URL is needed$/],
    [{ settings: { urls: [{ url: "ftp://a.example" }] } }, 400, /http/],
    [{ settings: { urls: [{ url: "https://a.example" }], sharedSecret: "***" } }, 400, /no shared secret is stored/],
    [{ settings: {}, destinationId: "dst_none" }, 404, /there is no destination dst_none/],
  ])("of %j is refused", async (body, status, detail) => {
    const answer = await test(body);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)]);
  });
});
