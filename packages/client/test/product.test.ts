/** One test for each row of the product's tables about the client library, against a real server. */
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Analytics, type AnalyticsOptions, type Message } from "../src/index.ts";
import { createFakeEnvironment } from "./support/fake-environment.ts";
import { runProgram } from "./support/program.ts";
import { bodies, messages } from "./support/received.ts";

let server: Receiver;
let clients: Analytics[] = [];

beforeEach(async () => {
  server = await startReceiver({ script: { body: '{"success": true}' } });
  clients = [];
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
});

function createClient(options: Partial<AnalyticsOptions> = {}, environment = createFakeEnvironment()): Analytics {
  const client = new Analytics({ writeKey: "KEY", endpoint: server.url, ...options }, environment);
  clients.push(client);
  return client;
}

/** Flushes, and returns the one message that arrived. */
async function sent(client: Analytics): Promise<Message> {
  await client.flush();
  expect(messages(server)).toHaveLength(1);
  const [message] = messages(server);
  if (message === undefined) throw new Error("nothing arrived");
  return message;
}

describe("operations", () => {
  it("New: a client with the defaults flushes at 20 queued calls", async () => {
    const client = createClient();
    for (let count = 0; count < 19; count += 1) client.track({ userId: "u1", event: "E" });
    expect(server.requests).toEqual([]);
    client.track({ userId: "u1", event: "E" });
    await eventually(() => expect(bodies(server).map(({ batch }) => batch.length)).toEqual([20]));
  });

  it("New: a client with the defaults flushes 5 seconds after the last flush", async () => {
    const environment = createFakeEnvironment();
    createClient({}, environment).track({ userId: "u1", event: "E" });
    environment.advance(4999);
    expect(environment.pendingDelaysMs()).toEqual([1]);
    environment.advance(1);
    await eventually(() => expect(messages(server)).toHaveLength(1));
  });

  it("Identify: queued with userId and traits", async () => {
    const client = createClient();
    client.identify({ userId: "u1", traits: { email: "e@x.test", age: 29 } });
    expect(await sent(client)).toMatchObject({
      type: "identify",
      userId: "u1",
      traits: { email: "e@x.test", age: 29 },
    });
  });

  it("Track: queued with event, userId, properties and integrations", async () => {
    const client = createClient();
    client.track({ userId: "u1", event: "Paid", properties: { revenue: 39.95 }, integrations: { Webhooks: true } });
    const expected = { type: "track", userId: "u1", event: "Paid", properties: { revenue: 39.95 } };
    expect(await sent(client)).toMatchObject({ ...expected, integrations: { Webhooks: true } });
  });

  it("Page: queued with category, name, properties, timestamp, context and anonymousId", async () => {
    const client = createClient();
    const properties = { url: "https://x.test/d", title: "D", referrer: "https://r.test", path: "/d", custom: 1 };
    const fields = { userId: "u1", anonymousId: "a1", category: "Docs", name: "Index", properties };
    client.page({ ...fields, timestamp: "2012-12-02T00:30:08.276Z", context: { locale: "en-GB" } });
    const message = await sent(client);
    expect(message).toMatchObject({ type: "page", ...fields, timestamp: "2012-12-02T00:30:08.276Z" });
    expect(message.context).toMatchObject({ locale: "en-GB" });
  });

  it("Group: queued with userId, groupId and traits", async () => {
    const client = createClient();
    client.group({ userId: "u1", groupId: "g1", traits: { name: "Initech", "total billed": 830 } });
    const traits = { name: "Initech", "total billed": 830 };
    expect(await sent(client)).toMatchObject({ type: "group", userId: "u1", groupId: "g1", traits });
  });

  it("Alias: queued with userId, the new id, and previousId", async () => {
    const client = createClient();
    client.alias({ userId: "u1", previousId: "a1" });
    expect(await sent(client)).toMatchObject({ type: "alias", userId: "u1", previousId: "a1" });
  });
});

describe("required fields", () => {
  it.each([
    { rule: "Identify needs a userId or an anonymousId", call: (client: Analytics) => client.identify({} as never) },
    { rule: "Track needs an event", call: (client: Analytics) => client.track({ userId: "u1" } as never) },
    {
      rule: "Track needs a userId or an anonymousId",
      call: (client: Analytics) => client.track({ event: "E" } as never),
    },
    { rule: "Page needs a userId or an anonymousId", call: (client: Analytics) => client.page({} as never) },
    {
      rule: "Group needs a userId or an anonymousId",
      call: (client: Analytics) => client.group({ groupId: "g1" } as never),
    },
    { rule: "Group needs a groupId", call: (client: Analytics) => client.group({ userId: "u1" } as never) },
    { rule: "Alias needs a previousId", call: (client: Analytics) => client.alias({ userId: "u1" } as never) },
  ])("$rule", async ({ rule, call }) => {
    const client = createClient();
    const [kind, need] = rule.split(" needs ");
    expect(() => call(client)).toThrow(`${kind?.toLowerCase()} needs ${need}`);
    await client.close();
    expect(server.requests).toEqual([]);
  });

  it("an anonymousId alone is enough", async () => {
    const client = createClient();
    client.track({ anonymousId: "a1", event: "E" });
    expect(await sent(client)).toMatchObject({ anonymousId: "a1" });
  });
});

describe("configuration", () => {
  it("Size: the number of calls queued before a flush", async () => {
    const client = createClient({ size: 2 });
    for (let count = 0; count < 4; count += 1) client.track({ userId: "u1", event: "E" });
    await eventually(() => expect(bodies(server).map(({ batch }) => batch.length)).toEqual([2, 2]));
  });

  it("Endpoint: where requests go", async () => {
    const client = createClient({ endpoint: `${server.url}/behind/a/proxy/` });
    client.track({ userId: "u1", event: "E" });
    await client.flush();
    expect(server.requests).toMatchObject([{ method: "POST", path: "/behind/a/proxy/v1/batch" }]);
  });

  it("FlushAt: the count of calls that triggers a flush", async () => {
    const client = createClient({ flushAt: 3 });
    for (let count = 0; count < 3; count += 1) client.track({ userId: "u1", event: "E" });
    await eventually(() => expect(bodies(server).map(({ batch }) => batch.length)).toEqual([3]));
  });

  it("FlushAfter: the time since the last flush that triggers the next", async () => {
    const environment = createFakeEnvironment();
    createClient({ flushAfter: 250 }, environment).track({ userId: "u1", event: "E" });
    environment.advance(250);
    await eventually(() => expect(messages(server)).toHaveLength(1));
  });
});

describe("behaviours", () => {
  it("calls do not each produce a request: they are queued and flushed in batches", async () => {
    const client = createClient();
    for (let count = 0; count < 100; count += 1) client.track({ userId: "u1", event: "E" });
    await client.flush();
    expect(server.requests).toHaveLength(5);
    expect(messages(server)).toHaveLength(100);
  });

  it("1. Size 1 makes the client flush on every message", async () => {
    const client = createClient({ size: 1 });
    for (let count = 0; count < 3; count += 1) client.track({ userId: "u1", event: "E" });
    await eventually(() => expect(bodies(server).map(({ batch }) => batch.length)).toEqual([1, 1, 1]));
  });

  it("2. FlushAt 1 turns batching off: requests are sent at once", async () => {
    const client = createClient({ flushAt: 1 });
    client.track({ userId: "u1", event: "first" });
    await eventually(() => expect(server.requests).toHaveLength(1));
    client.track({ userId: "u1", event: "second" });
    await eventually(() => expect(server.requests).toHaveLength(2));
  });

  it("3. DEBUG=analytics turns on the runtime log, and nothing else does", async () => {
    const program = `client.track({ userId: "u1", event: "E" }); await client.close();`;
    const debugging = await runProgram(program, { endpoint: server.url, env: { DEBUG: "analytics" } });
    expect(debugging).toMatchObject({ code: 0, stdout: "" });
    expect(debugging.stderr).toMatch(/analytics: queued track/);
    expect(debugging.stderr).toMatch(/analytics: delivered 1/);
    const silent = await runProgram(program, { endpoint: server.url, env: { DEBUG: "other" } });
    expect(silent).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  it("4. a timestamp imports historical data; without one it is the time of the call", async () => {
    const client = createClient();
    client.track({ userId: "u1", event: "E", timestamp: new Date("2012-12-02T00:30:08.276Z") });
    client.track({ userId: "u1", event: "E", timestamp: "2012-12-02T00:30:08.276Z" });
    client.track({ userId: "u1", event: "E" });
    await client.flush();
    const past = "2012-12-02T00:30:08.276Z";
    expect(messages(server).map(({ timestamp }) => timestamp)).toEqual([past, past, "2026-11-21T03:04:05.678Z"]);
  });

  it("the integrations map is taken on alias, group, identify, page and track", async () => {
    const client = createClient();
    const integrations = { All: false, Webhooks: true };
    client.alias({ userId: "u1", previousId: "a1", integrations });
    client.group({ userId: "u1", groupId: "g1", integrations });
    client.identify({ userId: "u1", integrations });
    client.page({ userId: "u1", integrations });
    client.track({ userId: "u1", event: "E", integrations });
    await client.flush();
    expect(messages(server).map((message) => message.integrations)).toEqual(Array(5).fill(integrations));
  });
});

describe("authentication", () => {
  it("the write key is the user name of Basic authentication", async () => {
    const client = createClient({ writeKey: "schlüssel" });
    client.track({ userId: "u1", event: "E" });
    await client.flush();
    const expected = `Basic ${Buffer.from("schlüssel:", "utf8").toString("base64")}`;
    expect(server.requests[0]?.headers["authorization"]).toBe(expected);
  });
});

describe("limits", () => {
  it("a batch request is at most 500 KB", async () => {
    const client = createClient({ flushAt: 100 });
    for (let count = 0; count < 40; count += 1) {
      client.track({ userId: "u1", event: "E", properties: { text: "x".repeat(30_000) } });
    }
    await client.flush();
    expect(messages(server)).toHaveLength(40);
    expect(server.requests.map(({ body }) => body.length).filter((bytes) => bytes > 500 * 1000)).toEqual([]);
    expect(server.requests).toHaveLength(3);
  });

  it("a single call is at most 32 KB", () => {
    const client = createClient();
    const call = { userId: "u1", event: "E", properties: { text: "x".repeat(32 * 1024) } };
    expect(() => client.track(call)).toThrow(/^track is \d+ bytes of JSON, 32768 are allowed$/);
  });
});
