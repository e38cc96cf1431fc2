import { describe, expect, it } from "vitest";
import { SOURCE, startTestGateway, WRITE_KEY } from "./test-gateway.ts";
import { gateway, useGateway } from "./use-gateway.ts";

useGateway();

const ORIGIN = { origin: "https://shop.test" };
const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

describe("a page of another origin", () => {
  it.each(["/v1/t", "/v1/batch", "/v1/m", "/v1/projects/k/settings", "/beacon/v1/batch"])(
    "may send to %s, with the headers that its preflight asks for, and need not ask again for a day",
    async (path) => {
      const response = await fetch(gateway.url + path, {
        method: "OPTIONS",
        headers: {
          ...ORIGIN,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,x-retry-count",
        },
      });
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "access-control-allow-origin": "https://shop.test",
        "access-control-allow-headers": "authorization,x-retry-count",
        "access-control-allow-methods": "GET, POST, OPTIONS",
        "access-control-max-age": "86400",
      });
    },
  );

  it("is not told header names that are none", async () => {
    const response = await fetch(`${gateway.url}/v1/t`, {
      method: "OPTIONS",
      headers: { ...ORIGIN, "access-control-request-headers": "a b, <c>" },
    });
    expect(response.headers.get("access-control-allow-headers")).toBe("Authorization, Content-Type");
  });

  it("may read every answer, Retry-After too, or it would resend what arrived", async () => {
    const call = { anonymousId: "a", event: "E" };
    const taken = await gateway.post("/v1/t", call, ORIGIN);
    const refused = await gateway.post("/v1/t", {}, ORIGIN);
    gateway.producer.pendingBytes = 10_000_000;
    const busy = await gateway.post("/v1/t", call, ORIGIN);
    const lost = await get("/nowhere", ORIGIN);
    expect([taken, refused, busy, lost].map(({ status }) => status)).toEqual([200, 400, 503, 404]);
    for (const { headers } of [taken, refused, busy, lost]) {
      expect(headers.get("access-control-allow-origin")).toBe("https://shop.test");
      expect(headers.get("access-control-expose-headers")).toContain("Retry-After");
      expect(headers.get("vary")).toBe("Origin");
    }
  });

  it("is not spoken of where there is none", async () => {
    const { headers } = await gateway.post("/v1/t", { anonymousId: "a", event: "E" });
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("settings", () => {
  it("are the least that a browser's library starts with", async () => {
    const response = await get(`/v1/projects/${WRITE_KEY}/settings`, ORIGIN);
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.test");
    expect(await response.json()).toEqual({ integrations: { "Segment.io": { apiKey: WRITE_KEY } } });
  });

  it("are not there for a key that nobody has", async () => {
    expect((await get("/v1/projects/nobody/settings")).status).toBe(401);
  });
});

it("takes the library's measurements of itself and drops them", async () => {
  const response = await fetch(`${gateway.url}/v1/m`, { method: "POST", body: `{"series":[]}` });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ success: true });
  expect(gateway.producer.sent).toEqual([]);
});

describe("pixels", () => {
  const data = (call: object) => encodeURIComponent(btoa(JSON.stringify(call)));

  it("take a call as base64 of JSON, with its write key in it", async () => {
    const call = { writeKey: WRITE_KEY, userId: "u", event: "Opened", properties: { mail: "ä?>" } };
    const encoded = encodeURIComponent(Buffer.from(JSON.stringify(call)).toString("base64"));
    const response = await get(`/v1/pixel/track?data=${encoded}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("image/gif");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(
      Buffer.from(await response.arrayBuffer())
        .subarray(0, 6)
        .toString(),
    ).toBe("GIF89a");
    expect(gateway.events()).toMatchObject([
      { sourceId: SOURCE.id, type: "track", event: "Opened", propertiesJson: `{"mail":"ä?>"}` },
    ]);
  });

  it.each(["identify", "track", "page", "screen", "group", "alias"])("take %s calls", async (type) => {
    await get(`/v1/pixel/${type}?data=${data({ writeKey: WRITE_KEY, userId: "u", event: "E" })}`);
    expect(gateway.events()).toMatchObject([{ type, userId: "u" }]);
  });

  it("take a call as names and values of the address", async () => {
    const query = `writeKey=${WRITE_KEY}&anonymousId=a&event=Opened&properties.plan=P&context.page.path=/x&__proto__.y=1`;
    const response = await get(`/pixel/v1/track?${query}`);
    expect(response.status).toBe(200);
    const [event] = gateway.events();
    expect(event).toMatchObject({ event: "Opened", anonymousId: "a", propertiesJson: `{"plan":"P"}` });
    expect(JSON.parse(event?.contextJson ?? "")).toMatchObject({ page: { path: "/x" } });
    expect(Object.hasOwn({}, "y")).toBe(false);
  });

  it.each([
    ["/v1/pixel/track"],
    ["/v1/pixel/track?data=!!!"],
    [`/v1/pixel/track?data=${data({ writeKey: "nobody", userId: "u", event: "E" })}`],
    [`/v1/pixel/track?data=${data({ writeKey: WRITE_KEY })}`],
    ["/pixel/v1/page"],
  ])("show an image for %s too", async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/gif"]);
    expect(gateway.events()).toEqual([]);
  });

  it("are answered 503 while the brokers do not take the call: 200 would say that they had", async () => {
    gateway.producer.pendingBytes = 10_000_000;
    const response = await get(`/v1/pixel/track?data=${data({ writeKey: WRITE_KEY, userId: "u", event: "E" })}`);
    expect(response.status).toBe(503);
  });
});

describe("the address of the caller", () => {
  it("is the socket's, whatever a header says that no trusted proxy sent", async () => {
    await gateway.post("/v1/t", { anonymousId: "a", event: "E" }, { "x-forwarded-for": "203.0.113.9" });
    expect(JSON.parse(gateway.events()[0]?.contextJson ?? "")).toMatchObject({ ip: "127.0.0.1" });
  });

  it("is what a trusted proxy says", async () => {
    const behindProxy = await startTestGateway({ trustedProxies: ["127.0.0.0/8"] });
    await behindProxy.post("/v1/t", { anonymousId: "a", event: "E" }, { "x-forwarded-for": "10.0.0.1, 203.0.113.9" });
    expect(JSON.parse(behindProxy.events()[0]?.contextJson ?? "")).toMatchObject({ ip: "203.0.113.9" });
    await behindProxy.close();
  });
});

describe("what is not there", () => {
  it.each([
    ["GET", "/", 404],
    ["POST", "/v1/unknown", 404],
    ["GET", "/v1/track", 405],
    ["DELETE", "/v1/batch", 405],
    ["POST", "/v1/pixel/track", 405],
    ["GET", "/v1/%zz", 400],
  ])("%s %s is answered %i in JSON", async (method, path, status) => {
    const response = await fetch(gateway.url + path, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ code: expect.any(String), message: expect.stringMatching(/\.$/) });
    expect(response.headers.has("allow")).toBe(status === 405);
  });
});

describe("the OpenAPI document", () => {
  it("is served, and every path and method of it is answered by this server", async () => {
    const response = await get("/openapi.json");
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const document = (await response.json()) as { openapi: string; paths: Record<string, Record<string, unknown>> };
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toHaveLength(20);
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of Object.keys(operations)) {
        const url = gateway.url + path.replace("{writeKey}", WRITE_KEY).replace("{type}", "track");
        expect([404, 405]).not.toContain((await fetch(url, { method: method.toUpperCase() })).status);
      }
    }
  });
});
