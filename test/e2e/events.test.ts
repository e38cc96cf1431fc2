import { eventually } from "@posthaste/testkit/eventually";
import { hasGoodSignature } from "@posthaste/testkit/signature";
import { Analytics } from "@segment/analytics-node";
import { beforeAll, describe, expect, it } from "vitest";
import { type Call, sendOne } from "./calls.ts";
import { bodyOf, createRoute, firstAttempts, messageIdsOf, type Route, untilKnown } from "./route.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const ARRIVAL = { timeoutMs: 60_000 };

useInstallation();

const requestsOf = (route: Route) => receiver.requestsTo(route.path);

/** Sends one call and answers the body that the receiver got for it. */
async function bodyFor(route: Route, call: Call): Promise<{ text: string; json: Record<string, unknown> }> {
  const messageId = `${route.path}-${call.type}-${requestsOf(route).length}`;
  expect(await sendOne(installation.system.ingestUrl, route.writeKey, { messageId, ...call })).toBe(200);
  return eventually(() => {
    const request = requestsOf(route).find((candidate) => candidate.headers["x-message-id"] === messageId);
    if (!request) throw new Error(`no ${call.type} came`);
    expect(hasGoodSignature(request, route.sharedSecret)).toBe(true);
    return { text: request.body.toString("utf8"), json: bodyOf(request) };
  }, ARRIVAL);
}

describe("the real @segment/analytics-node", () => {
  it("has every one of its calls delivered, once, with a good signature", async () => {
    const route = await createRoute(installation, receiver, "/segment");
    const analytics = new Analytics({ writeKey: route.writeKey, host: installation.system.ingestUrl, maxRetries: 3 });
    const errors: unknown[] = [];
    analytics.on("error", (error) => errors.push(error));
    const userId = "ada";
    analytics.identify({ userId, traits: { email: "ada@example.com" } });
    analytics.track({ userId, event: "Order Completed", properties: { revenue: 39.95 } });
    analytics.page({ userId, name: "Academy", properties: { path: "/academy/" } });
    analytics.screen({ userId, name: "Home" });
    analytics.group({ userId, groupId: "initech", traits: { "total billed": 830 } });
    analytics.alias({ userId, previousId: "anonymous-1" });
    await analytics.closeAndFlush();
    await eventually(() => expect(firstAttempts(requestsOf(route))).toHaveLength(6), ARRIVAL);
    expect(errors).toEqual([]);
    expect(new Set(requestsOf(route).map((request) => bodyOf(request)["type"]))).toEqual(
      new Set(["identify", "track", "page", "screen", "group", "alias"]),
    );
    expect(requestsOf(route).every((request) => hasGoodSignature(request, route.sharedSecret))).toBe(true);
    expect(messageIdsOf(requestsOf(route)).size).toBe(6);
  });
});

describe("the body of each kind is the product's, to the field", () => {
  const timestamp = "2026-05-04T03:02:01.123Z";
  const context = { ip: "203.0.113.7", userAgent: "Example/1", app: { name: "Example", version: "1.2" } };
  const common = { version: 1, timestamp, context };
  let route: Route;

  beforeAll(async () => {
    route = await createRoute(installation, receiver, "/bodies");
  });

  it.each<[Call, Record<string, unknown>]>([
    [
      { type: "page", userId: "u", properties: { path: "/a", referrer: "", title: "A", url: "https://a.example/a" } },
      {
        ...common,
        type: "page",
        userId: "u",
        properties: { path: "/a", referrer: "", title: "A", url: "https://a.example/a" },
      },
    ],
    [
      { type: "screen", userId: "u", name: "Home" },
      { ...common, type: "screen", userId: "u", name: "Home" },
    ],
    [
      { type: "identify", userId: "u", traits: { name: "Ada", logins: 5 } },
      { ...common, type: "identify", userId: "u", traits: { name: "Ada", logins: 5 } },
    ],
    [
      { type: "track", userId: "u", event: "Played", properties: { seconds: 3.5, "10": "first", "9": "second" } },
      {
        ...common,
        type: "track",
        userId: "u",
        event: "Played",
        properties: { seconds: 3.5, "10": "first", "9": "second" },
      },
    ],
    [
      { type: "alias", userId: "new", previousId: "old" },
      { ...common, type: "alias", "Previous ID": "old", "User ID": "new" },
    ],
    [
      { type: "group", userId: "u", groupId: "g", traits: { "total billed": 830 } },
      { ...common, type: "group", userId: "u", groupId: "g", traits: { "total billed": 830 } },
    ],
    [
      { type: "track", anonymousId: "a", event: "Seen", properties: {} },
      { ...common, type: "track", userId: null, anonymousId: "a", event: "Seen", properties: {} },
    ],
  ])("%j", async (call, expected) => {
    const { text, json } = await bodyFor(route, { ...call, timestamp, context });
    expect(json).toEqual(expected);
    expect(JSON.stringify(JSON.parse(text))).toBe(text);
  });

  it("delete carries its type, the user and the time, and nothing else", async () => {
    const before = Date.now();
    await installation.control.call("POST", "/v1/deletions", { userId: "gone", sourceIds: [route.sourceId] });
    const body = await eventually(() => {
      const request = requestsOf(route).find((candidate) => bodyOf(candidate)["type"] === "delete");
      if (!request) throw new Error("no delete came");
      expect(hasGoodSignature(request, route.sharedSecret)).toBe(true);
      return bodyOf(request);
    }, ARRIVAL);
    expect(Object.keys(body)).toEqual(["type", "userId", "timestamp"]);
    expect(body["userId"]).toBe("gone");
    expect(body["timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(String(body["timestamp"]))).toBeGreaterThanOrEqual(before);
  });

  it("comes with the product's headers", async () => {
    const request = requestsOf(route)[0];
    expect(request?.method).toBe("POST");
    expect(request?.headers).toMatchObject({
      "user-agent": "Posthaste/1.0",
      "content-type": "application/json",
      "x-attempt": "1",
    });
    expect(request?.headers["x-message-id"]).toMatch(/\S/);
  });
});

describe("audiences and computed traits", () => {
  it("come as identifies: of members at first, of who came or went, of values that changed", async () => {
    const route = await createRoute(installation, receiver, "/told");
    const { control, system } = installation;
    const sourceId = route.sourceId;
    const { id, trait } = (await control.call("POST", "/v1/audiences", { name: "VIP Käufer 🎉", sourceId })) as {
      readonly [name in "id" | "trait"]: string;
    };
    const members = (users: readonly string[]) => control.call("PUT", `/v1/audiences/${id}/members`, users);
    const values = (said: object) =>
      control.call("PUT", "/v1/computed-traits/Lifetime%20Value", { sourceId, values: said });
    /** One for each identify, however often the receiver was sent it. */
    const reported = () => {
      const bodies = new Map(requestsOf(route).map((each) => [each.headers["x-message-id"], bodyOf(each)]));
      const identifies = [...bodies.values()].filter(({ type }) => type === "identify");
      return identifies.map(({ userId, traits }) => `${userId} ${JSON.stringify(traits)}`).sort();
    };
    expect(await members(["ada", "bob"])).toEqual({ added: 2, removed: 0, unchanged: 0 });
    const first = ['ada {"vip_kaufer":true}', 'bob {"vip_kaufer":true}'];
    await eventually(() => expect(reported()).toEqual(first), ARRIVAL);
    const identify = requestsOf(route).find((each) => bodyOf(each)["userId"] === "ada");
    expect(identify && bodyOf(identify)).toEqual({
      ...{ version: 1, type: "identify", userId: "ada", traits: { [trait]: true } },
      ...{ timestamp: expect.any(String), context: { posthaste: { kind: "audience", id } } },
    });
    expect(identify && hasGoodSignature(identify, route.sharedSecret)).toBe(true);

    expect(await members(["bob", "cyd"])).toEqual({ added: 1, removed: 1, unchanged: 1 });
    await values({ ada: 12.5, bob: { tier: ["gold"] } });
    await values({ ada: 13, bob: { tier: ["gold"] } });
    await eventually(async () =>
      expect(await control.call("GET", `/v1/audiences/${id}`)).toMatchObject({ identifiesWaiting: 0 }),
    );
    // One user's events of one source go in order: an earlier one that is not there is not coming.
    for (const userId of ["ada", "bob", "cyd"])
      expect(
        await sendOne(system.ingestUrl, route.writeKey, { type: "track", userId, event: "E", messageId: userId }),
      ).toBe(200);
    await eventually(
      () => expect([...messageIdsOf(requestsOf(route))]).toEqual(expect.arrayContaining(["ada", "bob", "cyd"])),
      ARRIVAL,
    );
    const then = ['ada {"lifetime_value":12.5}', 'ada {"lifetime_value":13}', 'ada {"vip_kaufer":false}'];
    const others = ['bob {"lifetime_value":{"tier":["gold"]}}', 'cyd {"vip_kaufer":true}'];
    await eventually(() => expect(reported()).toEqual([...first, ...then, ...others].sort()), ARRIVAL);
  });
});

describe("a destination that asks for the full payload", () => {
  it("gets what the call had besides, signed, while another gets the documented body", async () => {
    const full = await createRoute(installation, receiver, "/full");
    const documented = await installation.control.createDestination({
      ...{ name: "documented beside full", sourceIds: [full.sourceId], urls: [`${receiver.url}/documented`] },
      sharedSecret: full.sharedSecret,
    });
    await installation.control.call("PATCH", `/v1/destinations/${full.destinationId}`, {
      settings: { payload: "full" },
    });
    await untilKnown(installation);
    const times = { sentAt: "2026-05-04T03:02:02.000Z", timestamp: "2026-05-04T03:02:01.123Z" };
    const call = { type: "screen", userId: "u", name: "Cart", category: "Shop", properties: { items: 2 }, ...times };
    const messageId = "full-screen";
    const integrations = { All: true, Mixpanel: false };
    const sent = { ...call, messageId, integrations, context: { ip: "203.0.113.7", userAgent: "Example/1" } };
    expect(await sendOne(installation.system.ingestUrl, full.writeKey, sent)).toBe(200);
    const [whole, plain] = await eventually(() => {
      const requests = ["/full", "/documented"].map((path) =>
        receiver.requestsTo(path).find(({ headers }) => headers["x-message-id"] === messageId),
      );
      const [first, second] = requests;
      if (first === undefined || second === undefined) throw new Error(`not both came, ${documented}`);
      return [first, second];
    }, ARRIVAL);
    expect(hasGoodSignature(whole, full.sharedSecret)).toBe(true);
    const { receivedAt, ...rest } = bodyOf(whole);
    expect(rest).toEqual({
      ...bodyOf(plain),
      ...{ properties: { items: 2 }, category: "Shop", messageId, integrations },
      ...{ sentAt: times.sentAt, originalTimestamp: times.timestamp },
    });
    expect(Math.abs(Date.parse(String(receivedAt)) - Date.now())).toBeLessThan(60_000);
    expect(Object.keys(bodyOf(plain))).toEqual(["version", "type", "userId", "name", "timestamp", "context"]);
    expect(String(whole.body).startsWith(String(plain.body).slice(0, -1))).toBe(true);
    expect(JSON.stringify(JSON.parse(String(whole.body)))).toBe(String(whole.body));
  });
});

describe("the integrations map", () => {
  it("keeps an event from a destination that it switches off, and lets the name win over All", async () => {
    const route = await createRoute(installation, receiver, "/integrations");
    const track = (messageId: string, integrations: object): Call => ({
      type: "track",
      userId: "u",
      event: "E",
      messageId,
      integrations,
    });
    for (const call of [
      track("off", { Webhooks: false }),
      track("all-off", { All: false }),
      track("other-case", { All: false, webhooks: true }),
      track("by-name", { All: false, Webhooks: true }),
      track("options", { All: false, Webhooks: { some: "option" } }),
      track("last", {}),
    ]) {
      expect(await sendOne(installation.system.ingestUrl, route.writeKey, call)).toBe(200);
    }
    // One user's events of one source go in order: an event from before `last` that is not there is not coming.
    await eventually(() => expect([...messageIdsOf(requestsOf(route))]).toContain("last"), ARRIVAL);
    expect(messageIdsOf(requestsOf(route))).toEqual(new Set(["by-name", "options", "last"]));
  });
});

describe("a destination that is changed through control", () => {
  it("is obeyed: another URL, switched off, on again", async () => {
    const route = await createRoute(installation, receiver, "/before");
    const send = async (messageId: string) => {
      const call: Call = { type: "track", userId: "u", event: "E", messageId };
      expect(await sendOne(installation.system.ingestUrl, route.writeKey, call)).toBe(200);
    };
    const destination = `/v1/destinations/${route.destinationId}`;

    await send("change-1");
    await eventually(() => expect([...messageIdsOf(receiver.requestsTo("/before"))]).toEqual(["change-1"]), ARRIVAL);
    await installation.control.call("PATCH", destination, { settings: { urls: [{ url: `${receiver.url}/after` }] } });
    await untilKnown(installation);
    await send("change-2");
    await eventually(() => expect([...messageIdsOf(receiver.requestsTo("/after"))]).toEqual(["change-2"]), ARRIVAL);
    await installation.control.call("PATCH", destination, { enabled: false });
    await untilKnown(installation);
    await send("change-3");
    const verdict = () => installation.control.call("GET", "/v1/events/change-3");
    await eventually(async () => expect(await verdict()).toMatchObject({ cause: "destination_off" }), ARRIVAL);
    await installation.control.call("PATCH", destination, { enabled: true });
    await untilKnown(installation);
    await send("change-4");
    await eventually(() => expect([...messageIdsOf(receiver.requestsTo("/after"))]).toContain("change-4"), ARRIVAL);
    expect(messageIdsOf(receiver.requestsTo("/after"))).toEqual(new Set(["change-2", "change-4"]));
    expect(messageIdsOf(receiver.requestsTo("/before"))).toEqual(new Set(["change-1"]));
  });
});
