import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { secretKey, startTestControl, type TestControl } from "./control.ts";

const TOO_SHORT =
  "expected a text of 16 to 1024 characters (a shorter one can be guessed from a single signed request)";
const SECRETS = /first-shared-secret|second-shared-secret|header-value-[ab]|pass-of-url/;

let topics: TestTopics;
let control: TestControl;
let sourceId: string;

const keys = secretKey("k1");

beforeAll(async () => {
  topics = await createTestTopics("control");
  control = await startTestControl(topics, { secretKeys: keys });
  sourceId = (await control.call("POST", "/v1/sources", { name: "site", kind: "web" })).body.id;
});

afterAll(async () => {
  expect(control.logged()).not.toMatch(SECRETS);
  await control.stop();
  await topics.remove();
});

const input = () => ({
  type: "Webhooks",
  name: "billing",
  sourceIds: [sourceId],
  enabled: true,
  settings: {
    sharedSecret: "first-shared-secret",
    settle: "each",
    rateLimitPerSecond: 50,
    urls: [
      { url: "https://a.example/hook?x=1", headers: { Authorization: "header-value-a", "X-Team": "header-value-b" } },
      { url: "http://b.example/" },
    ],
  },
});

const shownSettings = {
  sharedSecret: { set: true },
  settle: "each",
  rateLimitPerSecond: 50,
  standardWebhooks: false,
  responseLog: "failures",
  payload: "documented",
  urls: [
    { url: "https://a.example/hook?x=1", headers: { Authorization: "***", "X-Team": "***" } },
    { url: "http://b.example/", headers: {} },
  ],
};

describe("destinations", () => {
  let id: string;

  beforeEach(async () => {
    const { status, body } = await control.call("POST", "/v1/destinations", input());
    expect(status).toBe(201);
    id = body.id;
  });

  it("are made with their secrets in, which never come out", async () => {
    const created = await control.call("POST", "/v1/destinations", input());
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^dst_[0-9a-z]{16}$/),
      type: "Webhooks",
      name: "billing",
      sourceIds: [sourceId],
      enabled: true,
      settings: shownSettings,
      secretStage: "active",
      missingKeyIds: null,
      revision: expect.any(Number),
      createdAt: expect.any(String),
      updatedAt: created.body.createdAt,
    });
    const read = await control.call("GET", `/v1/destinations/${created.body.id}`);
    const list = await control.call("GET", "/v1/destinations?limit=200");
    expect(read.body).toEqual(created.body);
    expect(list.body.data).toContainEqual(created.body);
    for (const { text } of [created, read, list]) expect(text).not.toMatch(SECRETS);
  });

  it("need no more than a name and one URL", async () => {
    const { status, body } = await control.call("POST", "/v1/destinations", {
      type: "Webhooks",
      name: "least",
      settings: { urls: [{ url: "https://a.example" }] },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      sourceIds: [],
      enabled: true,
      settings: {
        ...{ sharedSecret: { set: false }, settle: "any", rateLimitPerSecond: null, standardWebhooks: false },
        responseLog: "failures",
        payload: "documented",
      },
      secretStage: "none",
    });
  });

  it("keep everything through a change of what was read, sent back as it was", async () => {
    const { body: before } = await control.call("GET", `/v1/destinations/${id}`);
    const { name, sourceIds, enabled, settings, revision } = before;
    const { status, body } = await control.call("PATCH", `/v1/destinations/${id}`, {
      name,
      sourceIds,
      enabled,
      settings,
      revision,
    });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, revision: body.revision, updatedAt: body.updatedAt });
    expect(body.revision).toBeGreaterThan(before.revision);
  });

  it("merge settings key by key, and replace lists whole", async () => {
    const { body } = await control.call("PATCH", `/v1/destinations/${id}`, {
      enabled: false,
      settings: {
        ...{ rateLimitPerSecond: null, standardWebhooks: true, responseLog: "off", payload: "full" },
        urls: [{ url: "https://c.example/" }],
      },
    });
    expect(body).toMatchObject({ name: "billing", enabled: false, sourceIds: [sourceId] });
    expect(body.settings).toEqual({
      sharedSecret: { set: true },
      settle: "each",
      rateLimitPerSecond: null,
      standardWebhooks: true,
      responseLog: "off",
      payload: "full",
      urls: [{ url: "https://c.example/", headers: {} }],
    });
  });

  it("keep a header's value for a mask of the same URL, and refuse a mask with no stored value", async () => {
    const kept = await control.call("PATCH", `/v1/destinations/${id}`, {
      settings: {
        urls: [{ url: "https://a.example/hook?x=1", headers: { authorization: "***", "X-New": "header-value-a" } }],
      },
    });
    expect(kept.status).toBe(200);
    expect(kept.body.settings.urls[0].headers).toEqual({ authorization: "***", "X-New": "***" });

    const moved = await control.call("PATCH", `/v1/destinations/${id}`, {
      settings: { urls: [{ url: "https://elsewhere.example/", headers: { Authorization: "***" } }] },
    });
    expect(moved.status).toBe(400);
    expect(moved.body.errors).toEqual([
      {
        path: "settings.urls[0].headers.Authorization",
        message:
          'https://elsewhere.example/: header "Authorization" has no stored value that "***" could keep: send the value itself',
      },
    ]);
  });

  it("take a shared secret away for null, and refuse to keep one that is not there", async () => {
    const removed = await control.call("PATCH", `/v1/destinations/${id}`, { settings: { sharedSecret: null } });
    expect(removed.body.settings.sharedSecret).toEqual({ set: false });
    for (const sharedSecret of ["***", { set: true }]) {
      const kept = await control.call("PATCH", `/v1/destinations/${id}`, { settings: { sharedSecret } });
      expect([kept.status, kept.body.detail]).toEqual([
        400,
        "settings.sharedSecret: no shared secret is stored that this could keep: send the secret itself",
      ]);
    }
  });

  it("rotate their secret in stages, each of which can be taken only in its turn", async () => {
    const step = (name: string, body?: unknown) => control.call("POST", `/v1/destinations/${id}/secret/${name}`, body);
    const next = { sharedSecret: "second-shared-secret" };
    expect((await step("switch")).body.detail).toBe(`${id}: no next secret is named: name one first`);
    expect((await step("next", next)).body.secretStage).toBe("next");
    expect((await step("retire")).status).toBe(409);
    expect((await step("switch")).body.secretStage).toBe("switched");
    expect((await step("next", next)).status).toBe(409);
    expect((await step("undo")).body.secretStage).toBe("next");
    expect((await step("switch", {})).body.secretStage).toBe("switched");
    const retired = await step("retire");
    expect(retired.body).toMatchObject({ secretStage: "active", settings: { sharedSecret: { set: true } } });
    expect(retired.text).not.toMatch(SECRETS);
    expect((await step("undo")).status).toBe(409);
    expect((await step("next", { sharedSecret: "" })).status).toBe(400);
    const short = await step("next", { sharedSecret: "fifteen-letters" });
    expect([short.status, short.body.detail]).toEqual([400, `sharedSecret: ${TOO_SHORT}`]);
  });

  it("end a rotation under way when the secret itself is replaced", async () => {
    await control.call("POST", `/v1/destinations/${id}/secret/next`, { sharedSecret: "second-shared-secret" });
    const { body } = await control.call("PATCH", `/v1/destinations/${id}`, {
      settings: { sharedSecret: "second-shared-secret" },
    });
    expect(body.secretStage).toBe("active");
  });

  it("are gone after they are removed", async () => {
    expect((await control.call("DELETE", `/v1/destinations/${id}`)).status).toBe(204);
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/secret/switch"],
    ] as const) {
      const answer = await control.call(method, `/v1/destinations/${id}${path}`, method === "PATCH" ? {} : undefined);
      expect([method, answer.status, answer.body.detail]).toEqual([method, 404, `there is no destination ${id}`]);
    }
  });

  it("no longer show a source that was removed, and can be changed all the same", async () => {
    const removable = (await control.call("POST", "/v1/sources", { name: "gone soon", kind: "web" })).body.id;
    await control.call("PATCH", `/v1/destinations/${id}`, { sourceIds: [sourceId, removable] });
    await control.call("DELETE", `/v1/sources/${removable}`);
    const { body } = await control.call("PATCH", `/v1/destinations/${id}`, { name: "still here" });
    expect(body).toMatchObject({ name: "still here", sourceIds: [sourceId] });
  });

  const withUrl = (url: unknown) => ({ settings: { urls: [url] } });
  const withHeader = (name: string, value: string) =>
    withUrl({ url: "https://a.example/hook", headers: { [name]: value } });
  const url = (n: number) => ({ url: `https://a.example/${n}` });

  it.each([
    ["no type", { type: undefined }, 'type: expected "Webhooks"'],
    ["another type", { type: "webhooks" }, 'type: expected "Webhooks"'],
    ["no URL", { settings: { urls: [] } }, "settings.urls: at least one URL is needed"],
    [
      "six URLs",
      { settings: { urls: [1, 2, 3, 4, 5, 6].map(url) } },
      "settings.urls: a destination has at most 5 URLs",
    ],
    [
      "the same URL twice",
      { settings: { urls: [url(1), url(1)] } },
      "settings.urls[1].url: https://a.example/1 stands twice",
    ],
    [
      "another protocol",
      withUrl({ url: "ftp://a.example/" }),
      "settings.urls[0].url: ftp://a.example/: expected a full URL that begins with http:// or https://",
    ],
    [
      "a user name and password in the URL",
      withUrl({ url: "https://user:pass-of-url@a.example/" }),
      "settings.urls[0].url: https://***@a.example/: a URL may not hold a user name or password: use a header",
    ],
    [
      "white space in the URL",
      withUrl({ url: "https://a.example/a b" }),
      "settings.urls[0].url: https://a.example/a b: a URL holds no white space, control character or backslash",
    ],
    ["no host", withUrl({ url: "https://" }), "settings.urls[0].url: https://: this is not a URL"],
    [
      "a header of the service's own",
      withHeader("x-signature", "header-value-a"),
      'settings.urls[0].headers.x-signature: https://a.example/hook: header "x-signature" is set by the service and cannot be changed',
    ],
    [
      "a line end in a header",
      withHeader("X-A", "header-value-a\r\nHost: b"),
      'settings.urls[0].headers.X-A: https://a.example/hook: header "X-A" has a value with a control character or one outside Latin-1',
    ],
    [
      "a header outside Latin-1",
      withHeader("X-A", "header-value-a €"),
      'settings.urls[0].headers.X-A: https://a.example/hook: header "X-A" has a value with a control character or one outside Latin-1',
    ],
    ["an unknown source", { sourceIds: ["src_nobody"] }, "sourceIds[0]: there is no source src_nobody"],
    [
      "an unknown setting",
      { settings: { urls: [url(1)], color: "red" } },
      'settings: unknown field "color"; expected sharedSecret, settle, rateLimitPerSecond, standardWebhooks, responseLog, payload, urls',
    ],
    ["no settings", { settings: undefined }, "settings: expected an object; it is missing"],
    [
      "a masked secret",
      { settings: { urls: [url(1)], sharedSecret: "***" } },
      "settings.sharedSecret: no shared secret is stored that this could keep: send the secret itself",
    ],
    ["an empty secret", { settings: { urls: [url(1)], sharedSecret: "" } }, `settings.sharedSecret: ${TOO_SHORT}`],
    [
      "a secret of fifteen characters",
      { settings: { urls: [url(1)], sharedSecret: "fifteen-letters" } },
      `settings.sharedSecret: ${TOO_SHORT}`,
    ],
  ])("are refused with %s, naming the place", async (_, change, detail) => {
    const answer = await control.call("POST", "/v1/destinations", { ...input(), ...change });
    expect([answer.status, answer.body.detail]).toEqual([400, detail]);
    expect(answer.text).not.toMatch(SECRETS);
  });
});

describe("state", () => {
  it("is that of a process that starts anew, removals included", async () => {
    const kept = (await control.call("POST", "/v1/destinations", input())).body;
    const removed = (await control.call("POST", "/v1/destinations", input())).body.id;
    await control.call("DELETE", `/v1/destinations/${removed}`);
    const anew = await startTestControl(topics, { secretKeys: keys });
    expect((await anew.call("GET", `/v1/destinations/${kept.id}`)).body).toEqual(kept);
    expect((await anew.call("GET", `/v1/destinations/${removed}`)).status).toBe(404);
    expect((await anew.call("GET", `/v1/sources/${sourceId}`)).status).toBe(200);
    await anew.stop();
  });

  it("moves to a new secret key with a change, after which the old key may go", async () => {
    const { id } = (await control.call("POST", "/v1/destinations", input())).body;
    const newKey = secretKey("k2");
    const rotating = await startTestControl(topics, { secretKeys: `${newKey},${keys}` });
    const read = await rotating.call("GET", `/v1/destinations/${id}`);
    expect(read.body).toMatchObject({ missingKeyIds: null, settings: shownSettings });
    expect((await rotating.call("PATCH", `/v1/destinations/${id}`, {})).status).toBe(200);
    await rotating.stop();

    const rotated = await startTestControl(topics, { secretKeys: newKey });
    expect((await rotated.call("GET", `/v1/destinations/${id}`)).body).toMatchObject({ missingKeyIds: null });
    await rotated.stop();
  });

  it("is shown but not changed while a secret key is missing, so that no secret is erased", async () => {
    const { id } = (await control.call("POST", "/v1/destinations", input())).body;
    const keyless = await startTestControl(topics, { secretKeys: secretKey("other") });
    const read = await keyless.call("GET", `/v1/destinations/${id}`);
    expect(read.body).toMatchObject({ missingKeyIds: ["k1"], settings: shownSettings, secretStage: "active" });
    const attempts = [
      await keyless.call("PATCH", `/v1/destinations/${id}`, { enabled: false }),
      await keyless.call("POST", `/v1/destinations/${id}/test`),
      await keyless.call("POST", `/v1/destinations/${id}/secret/next`, { sharedSecret: "second-shared-secret" }),
    ];
    for (const { status, body } of attempts) {
      expect(status).toBe(409);
      expect(body.detail).toMatch(/not among POSTHASTE_SECRET_KEYS here: k1/);
    }
    await keyless.stop();
    expect((await control.call("GET", `/v1/destinations/${id}`)).body).toEqual({
      ...read.body,
      missingKeyIds: null,
    });
  });
});
