import { connect } from "node:net";
import { eventually } from "@posthaste/testkit/eventually";
import { startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, readOpenApi, startTestControl } from "./control.ts";
import { control, topics, useControl } from "./use-control.ts";

useControl();

afterAll(() => expect(control.logged()).not.toContain(ADMIN_TOKEN));

const PATHS = [
  ["GET", "/v1/nothing"],
  ["GET", "/v1/sources"],
  ["POST", "/v1/destinations"],
] as const;
/** The path for tokens that may be guesses. Ten guesses a minute shut out the address, for other files too. */
const ONE_PATH = PATHS.slice(0, 1);

describe("a token", () => {
  it.each([
    ["no header", {}, PATHS],
    ["another token", { authorization: "Bearer nobody-0123456789-0123456789" }, ONE_PATH],
    ["the token with more behind it", { authorization: `Bearer ${ADMIN_TOKEN}x` }, ONE_PATH],
    ["an empty token", { authorization: "Bearer " }, PATHS],
    ["another scheme", { authorization: `Basic ${btoa(`${ADMIN_TOKEN}:`)}` }, PATHS],
  ])("is asked for: %s is refused, whatever the path", async (_, headers, paths) => {
    for (const [method, path] of paths) {
      const response = await fetch(`${control.url}${path}`, { method, headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toEqual({
        type: "urn:posthaste:problem:unauthorized",
        title: "The token is missing or wrong",
        status: 401,
        detail: "send the header Authorization: Bearer <token>",
        errors: [],
        requestId: response.headers.get("x-request-id"),
      });
    }
  });

  it("may be given with the scheme in any case", async () => {
    const response = await fetch(`${control.url}/v1/sources`, { headers: { authorization: `bearer ${ADMIN_TOKEN}` } });
    expect(response.status).toBe(200);
  });
});

describe("a request that no route can take", () => {
  it("is told that there is no such path", async () => {
    const { status, body } = await control.call("GET", "/v1/nothing?x=1");
    expect([status, body.detail]).toEqual([404, "there is no GET /v1/nothing: see /openapi.json"]);
  });

  it("is told that its body is not JSON, without a word of the body", async () => {
    const { status, body, text } = await control.call("POST", "/v1/sources", '{"name": secret-in-body');
    expect([status, body.detail]).toEqual([400, "the body is not JSON"]);
    expect(text).not.toContain("secret-in-body");
  });

  it("is told that a key would change the prototype", async () => {
    const { status, body } = await control.call("POST", "/v1/sources", '{"name":"x","kind":"web","__proto__":{}}');
    expect([status, body.detail]).toEqual([400, 'the key "__proto__" is not allowed']);
  });

  it("is told to send JSON when its body is something else", async () => {
    const { status, body } = await control.call("POST", "/v1/sources", "name=x", { "content-type": "text/plain" });
    expect([status, body.detail]).toEqual([415, "send application/json"]);
  });

  it("is refused when its body is too large", async () => {
    const { status, body } = await control.call("POST", "/v1/sources", { name: "x".repeat(1_100_000), kind: "web" });
    expect([status, body.type]).toEqual([413, "urn:posthaste:problem:too-large"]);
  });
});

it("a replay is made, and counts are told, at the paths of the release before as at the present ones", async () => {
  // Control refuses plans for as long as it reads the log of deliveries.
  const plan = (path: string) =>
    eventually(async () => {
      const { status, body } = await control.call("POST", path, { destinationId: "dst_none", dryRun: true });
      expect([path, status, body.matched]).toEqual([path, 202, 0]);
    });
  await plan("/v1/replays");
  await plan("/v1/dead-letters/replay");
  for (const path of ["/v1/replays/counting", "/v1/dead-letters/counting"]) {
    const { status, body } = await control.call("GET", path);
    expect([path, status, body.data]).toEqual([path, 200, expect.any(Array)]);
  }
});

describe("/openapi.json", () => {
  it("needs no token and names every operation with its answers", async () => {
    const { status, body: document } = await readOpenApi(control);
    expect(status).toBe(200);
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual(
      [
        "GET /v1/catalog",
        "GET /v1/sources",
        "POST /v1/sources",
        "GET /v1/sources/{id}",
        "PATCH /v1/sources/{id}",
        "DELETE /v1/sources/{id}",
        "POST /v1/sources/{id}/write-key",
        "GET /v1/sources/{id}/calls",
        "POST /v1/sources/{id}/sample",
        "POST /v1/test-receivers",
        "GET /v1/test-receivers",
        "GET /v1/test-receivers/{id}",
        "PATCH /v1/test-receivers/{id}",
        "GET /v1/destinations",
        "POST /v1/destinations",
        "GET /v1/destinations/{id}",
        "PATCH /v1/destinations/{id}",
        "DELETE /v1/destinations/{id}",
        "POST /v1/destinations/{id}/secret/next",
        "POST /v1/destinations/{id}/secret/switch",
        "POST /v1/destinations/{id}/secret/undo",
        "POST /v1/destinations/{id}/secret/retire",
        "POST /v1/destinations/{id}/test",
        "POST /v1/destinations/test",
        "POST /v1/deletions",
        "GET /v1/deletions",
        "GET /v1/deletions/{id}",
        "GET /v1/deletions/{id}/notifications",
        "GET /v1/suppressions",
        "DELETE /v1/suppressions",
        "POST /v1/topics/accept-loss",
        "GET /v1/status",
        "GET /v1/doctor",
        "GET /v1/health/destinations",
        "GET /v1/health/destinations/{id}",
        "GET /v1/destinations/{id}/series",
        "GET /v1/deliveries",
        "GET /v1/deliveries/latest",
        "GET /v1/deliveries/record",
        "POST /v1/deliveries/resend",
        "GET /v1/events",
        "GET /v1/events/{messageId}",
        "GET /v1/events/{messageId}/scan",
        "GET /v1/dead-letters",
        "GET /v1/dead-letters/counts",
        "POST /v1/replays",
        "POST /v1/dead-letters/replay",
        "GET /v1/dead-letters/counting",
        "GET /v1/dead-letters/export",
        "GET /v1/dead-letters/groups",
        "GET /v1/replays/counting",
        "GET /v1/dead-letters/{place}",
        "POST /v1/dead-letters/purge",
        "GET /v1/replays",
        "GET /v1/replays/{id}",
        "POST /v1/replays/{id}/pause",
        "POST /v1/replays/{id}/resume",
        "POST /v1/replays/{id}/cancel",
        "GET /v1/audiences",
        "POST /v1/audiences",
        "GET /v1/audiences/{id}",
        "DELETE /v1/audiences/{id}",
        "PUT /v1/audiences/{id}/members",
        "PATCH /v1/audiences/{id}/members",
        "GET /v1/audiences/{id}/members/{userId}",
        "GET /v1/computed-traits",
        "PUT /v1/computed-traits/{name}",
        "DELETE /v1/computed-traits/{name}",
        "GET /v1/unreadable",
        "POST /v1/unreadable/reproduce",
        "GET /v1/audit",
        "GET /v1/live",
        "POST /v1/session",
        "GET /v1/session",
        "DELETE /v1/session",
        "POST /v1/session/token",
        "POST /v1/session/link",
        "GET /v1/tokens",
        "POST /v1/tokens",
        "DELETE /v1/tokens/{id}",
      ].sort(),
    );
    const former = { deprecated: true, operationId: "replayDeadLettersBefore" };
    expect(document.paths["/v1/dead-letters/replay"].post).toMatchObject(former);
    expect(document.paths["/v1/replays"].post).not.toHaveProperty("deprecated");
    expect(document.paths["/v1/destinations"].post).toMatchObject({
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: "#/components/schemas/DestinationInput" } } },
      },
      responses: { 201: expect.anything(), 400: expect.anything(), 401: expect.anything(), 503: expect.anything() },
    });
  });

  it("refers to no schema that it does not hold", async () => {
    const { text, body } = await readOpenApi(control);
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(referred.length).toBeGreaterThan(10);
    expect([...new Set(referred)].filter((name) => !(name !== undefined && name in body.components.schemas))).toEqual(
      [],
    );
  });

  it("says the limits that the input is checked by", async () => {
    const { settings } = (await readOpenApi(control)).body.components.schemas.DestinationInput.properties;
    expect(settings.properties.urls).toMatchObject({ minItems: 1, maxItems: 5 });
    expect(settings.required).toEqual(["urls"]);
  });
});

describe("/v1/catalog", () => {
  it("has the Webhooks destination with the JSON Schema of its settings", async () => {
    const { status, body } = await control.call("GET", "/v1/catalog");
    expect(status).toBe(200);
    expect(body).toEqual([
      { name: "Webhooks", description: expect.any(String), settings: expect.objectContaining({ type: "object" }) },
    ]);
    expect(body[0].settings.properties.urls.maxItems).toBe(5);
  });
});

describe("/readyz", () => {
  it("is 200 when every service named is ready", async () => {
    const service = await startReceiver();
    service.script("/readyz", { status: 200, body: '{"ready":true,"checks":{"tables":true}}' });
    const ready = await startTestControl(topics, { readyUrls: `ingest=${service.url}/readyz` });
    // On a busy machine the service may not answer in time.
    await eventually(async () => {
      const response = await fetch(`${ready.url}/readyz`);
      const checks = { tables: true, brokers: true, deliveryLog: true, ingest: true };
      expect([response.status, await response.json()]).toMatchObject([200, { ready: true, checks }]);
    });
    const asked = service.requests.length;
    await Promise.all(Array.from({ length: 40 }, () => fetch(`${ready.url}/readyz`).then((each) => each.text())));
    expect(service.requests.length - asked, "asks of 40 callers at once").toBeLessThan(20);
    await ready.stop();
    await service.close();
  });

  it("is 503 with the name of each service that is missing and what it lacks", async () => {
    const service = await startReceiver();
    service.script("/router", { status: 503, body: '{"ready":false,"checks":{"tables":"reading","group":true}}' });
    service.script("/delivery", { status: 500, body: "oops" });
    const gone = await startReceiver();
    await gone.close();
    const unready = await startTestControl(topics, {
      readyUrls: `ingest=${gone.url}/readyz,router=${service.url}/router,delivery=${service.url}/delivery`,
    });
    const checks = {
      ...{ tables: true, brokers: true, deliveryLog: true, ingest: "does not answer", router: "tables: reading" },
      delivery: "answers 500",
    };
    await eventually(async () => {
      const response = await fetch(`${unready.url}/readyz`);
      expect([response.status, await response.json()]).toMatchObject([503, { ready: false, checks }]);
    });
    await unready.stop();
    await service.close();
  });
});

describe("metrics", () => {
  it("count requests by operation and how they ended, from nought", async () => {
    const counted = await startTestControl(topics);
    const before = await counted.registry.metrics();
    expect(before).toContain('posthaste_control_requests_total{operation="createSource",answer="refused"} 0');
    await counted.call("POST", "/v1/sources", {});
    await counted.call("GET", "/v1/sources");
    const after = await counted.registry.metrics();
    expect(after).toContain('posthaste_control_requests_total{operation="createSource",answer="refused"} 1');
    expect(after).toContain('posthaste_control_requests_total{operation="listSources",answer="done"} 1');
    await counted.stop();
  });
});

it("cuts off who sends hundreds of requests and reads no answer", async () => {
  const { hostname, port } = new URL(control.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const requests = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100);
  await eventually(() => {
    socket.write(requests);
    expect(socket.destroyed).toBe(true);
  });
});
