/**
 * Every request form that real clients were seen to send, as bytes: method, path, headers and body. The tests check the
 * answer that every one of them takes for success, and the event that comes out.
 */
import { gzipSync } from "node:zlib";
import type { Event } from "@posthaste/core/event/event";
import { describe, expect, it } from "vitest";
import { sendRaw, toRequestBytes } from "./raw-request.ts";
import { RECEIVED_AT_MS, SOURCE, WRITE_KEY } from "./test-gateway.ts";
import { gateway, useGateway } from "./use-gateway.ts";

useGateway();

const BASIC = `Authorization: Basic ${Buffer.from(`${WRITE_KEY}:`).toString("base64")}`;
const JSON_TYPE = "Content-Type: application/json";
const TEXT_TYPE = "Content-Type: text/plain";

/** Sends as a client does and answers the events of it; the answer is the one that no client resends on. */
async function replay(path: string, headers: readonly string[], body: string | Buffer): Promise<Event[]> {
  const response = await sendRaw(gateway.url, toRequestBytes("POST", path, headers, body));
  expect(response).toMatchObject({ status: 200, body: `{"success":true}` });
  expect(response?.headers["content-type"]).toMatch(/^application\/json/);
  return gateway.events();
}

const base = (fields: Partial<Event>): Partial<Event> => ({
  sourceId: SOURCE.id,
  receivedAtMs: RECEIVED_AT_MS,
  anonymousId: null,
  ...fields,
});

describe("@segment/analytics-node 3", () => {
  it("POSTs /v1/batch with Basic and the key in the body", async () => {
    const body = `{"batch":[{"timestamp":"2026-11-21T03:24:17.269Z","integrations":{},"userId":"u1","traits":{"email":"e@x.test"},"type":"identify","context":{"library":{"name":"@segment/analytics-node","version":"3.1.0"}},"messageId":"node-next-1763695457269-5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4e5f6","_metadata":{"nodeVersion":"24.21.0"}}],"writeKey":"${WRITE_KEY}","sentAt":"2026-11-21T03:24:17.300Z"}`;
    const [event] = await replay("/v1/batch", [BASIC, JSON_TYPE, "User-Agent: analytics-node-next/latest"], body);
    expect(event).toEqual(
      base({
        messageId: "node-next-1763695457269-5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4e5f6",
        type: "identify",
        userId: "u1",
        timestampMs: RECEIVED_AT_MS - 31,
        integrations: {},
        event: null,
        name: null,
        groupId: null,
        previousId: null,
        propertiesJson: null,
        traitsJson: `{"email":"e@x.test"}`,
        contextJson: `{"library":{"name":"@segment/analytics-node","version":"3.1.0"},"ip":"127.0.0.1","userAgent":"analytics-node-next/latest"}`,
        restJson: `{"_metadata":{"nodeVersion":"24.21.0"},"sentAt":"2026-11-21T03:24:17.300Z","originalTimestamp":"2026-11-21T03:24:17.269Z"}`,
      }),
    );
  });
});

describe("@segment/analytics-node 2", () => {
  it("sends no Authorization: the key stands in the body alone", async () => {
    const body = `{"batch":[{"type":"track","event":"E","userId":"u","properties":{"a":1},"messageId":"node-next-1-a"}],"writeKey":"${WRITE_KEY}","sentAt":"2026-11-21T03:24:17.300Z"}`;
    const [event] = await replay("/v1/batch", [JSON_TYPE], body);
    expect(event).toMatchObject({ sourceId: SOURCE.id, event: "E", propertiesJson: `{"a":1}` });
  });
});

describe("analytics-node 6 (legacy)", () => {
  it("sends timestamp and sentAt in the envelope, the key in Basic alone, messageIds of 74 characters", async () => {
    const messageId = `node-${"0123456789abcdef".repeat(2)}-5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4e5f6`;
    const body = `{"batch":[{"userId":"u","event":"E","messageId":"${messageId}","timestamp":"2026-11-21T03:24:17.205Z","type":"track","context":{"library":{"name":"analytics-node","version":"6.2.0"}},"_metadata":{"nodeVersion":"24.21.0"}}],"timestamp":"2026-11-21T03:24:18.000Z","sentAt":"2026-11-21T03:24:18.000Z"}`;
    const headers = ["Accept: application/json, text/plain, */*", JSON_TYPE, "User-Agent: analytics-node/6.2.0", BASIC];
    const [event] = await replay("/v1/batch", headers, body);
    expect(event).toMatchObject({ messageId, timestampMs: RECEIVED_AT_MS - 795 });
  });
});

describe("@rudderstack/rudder-sdk-node 3", () => {
  it("gzips, calls JSON form-urlencoded, and names its time originalTimestamp", async () => {
    const body = gzipSync(
      `{"batch":[{"userId":"u","traits":{"a":1},"context":{"traits":{"a":1},"library":{"name":"@rudderstack/rudder-sdk-node","version":"3.0.13"}},"type":"identify","channel":"server","originalTimestamp":"2026-11-21T03:24:17.000Z","sentAt":"2026-11-21T03:24:17.001Z","messageId":"5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4e5f6","_metadata":{"nodeVersion":"24.21.0"}}],"timestamp":"2026-11-21T03:24:18.000Z","sentAt":"2026-11-21T03:24:18.000Z"}`,
    );
    const headers = [
      "Accept: application/json, text/plain, */*",
      "Content-Type: application/x-www-form-urlencoded",
      "Content-Encoding: gzip",
      "User-Agent: analytics-node/3.0.13",
      BASIC,
    ];
    const [event] = await replay("/v1/batch", headers, body);
    expect(event).toMatchObject({ traitsJson: `{"a":1}`, timestampMs: RECEIVED_AT_MS - 1_000 });
    expect(JSON.parse(event?.restJson ?? "")).toMatchObject({ channel: "server", sentAt: "2026-11-21T03:24:17.001Z" });
  });
});

describe("analytics-go 3", () => {
  it("has its context and a messageId of its own in the envelope, nanoseconds, the host's zone", async () => {
    const body = `{"messageId":"batch-1","sentAt":"2026-11-21T04:24:22.772442375+01:00","batch":[{"type":"track","messageId":"m-1","userId":"u","event":"E","timestamp":"2026-11-21T04:24:21.772442375+01:00","properties":{"plan":"P"}},{"type":"alias","messageId":"m-2","previousId":"u0","userId":"u1","timestamp":"2026-11-21T03:24:21.772442375Z"}],"context":{"library":{"name":"analytics-go","version":"3.0.0"}}}`;
    const headers = [`User-Agent: analytics-go (version: 3.0.0)`, BASIC, JSON_TYPE, "Accept-Encoding: gzip"];
    const [track, alias] = await replay("/v1/batch", headers, body);
    expect(track).toMatchObject({ messageId: "m-1", timestampMs: RECEIVED_AT_MS - 1_000 });
    expect(JSON.parse(track?.contextJson ?? "")).toMatchObject({ library: { name: "analytics-go" } });
    expect(alias).toMatchObject({
      messageId: "m-2",
      previousId: "u0",
      userId: "u1",
      timestampMs: RECEIVED_AT_MS - 1_000,
    });
  });

  it("switches destinations off by a lower-case all, which is no name of the rule's", async () => {
    const body = `{"messageId":"b","sentAt":"2026-11-21T03:24:22Z","batch":[{"type":"track","messageId":"m","userId":"u","event":"E","integrations":{"all":false,"Webhooks":true}}]}`;
    const [event] = await replay("/v1/batch", [BASIC, JSON_TYPE], body);
    expect(event?.integrations).toEqual({ all: false, Webhooks: true });
  });
});

describe("analytics-go 2", () => {
  it("writes times in whole seconds and zones without a colon, sentAt too", async () => {
    const body = `{"context":{"library":{"name":"analytics-go","version":"2.0.0"}},"batch":[{"type":"page","messageId":"m","timestamp":"2026-11-21T03:24:21+0000","name":"N","userId":"u","properties":{"url":"https://r.test"}}],"messageId":"b","sentAt":"2026-11-21T03:24:26+0000"}`;
    const [event] = await replay("/v1/batch", ["User-Agent: analytics-go (version: 2.0.0)", JSON_TYPE, BASIC], body);
    expect(event).toMatchObject({ type: "page", name: "N", timestampMs: RECEIVED_AT_MS - 5_000 });
  });

  it("posts a null batch when it is closed with nothing left", async () => {
    const body = `{"context":{"library":{"name":"analytics-go","version":"2.0.0"}},"batch":null,"messageId":"b","sentAt":"2026-11-21T03:24:26+0000"}`;
    expect(await replay("/v1/batch", [JSON_TYPE, BASIC], body)).toEqual([]);
  });
});

describe("analytics-python", () => {
  it("escapes what is not ASCII, sends nulls, and writes offsets with a colon", async () => {
    const body = `{"batch": [{"integrations": {}, "anonymousId": null, "properties": {"name": "caf\\u00e9 \\ud83d\\ude80"}, "timestamp": "2026-11-21T03:24:21.276000+00:00", "context": {"library": {"name": "analytics-python", "version": "2.4.0"}}, "userId": "u", "type": "track", "event": "E", "messageId": "m"}], "writeKey": "${WRITE_KEY}", "sentAt": "2026-11-21T03:24:21.279940+00:00"}`;
    const headers = [
      "User-Agent: analytics-python/2.4.0",
      "Accept-Encoding: gzip, deflate",
      "Accept: */*",
      JSON_TYPE,
      BASIC,
    ];
    const [event] = await replay("/v1/batch", headers, body);
    expect(event).toMatchObject({ propertiesJson: `{"name":"café 🚀"}`, timestampMs: RECEIVED_AT_MS - 3 });
  });

  it("gzips where the option says so", async () => {
    const body = gzipSync(
      `{"batch": [{"type": "screen", "name": "S", "userId": "u"}], "sentAt": "2026-11-21T03:24:21+00:00"}`,
    );
    const [event] = await replay("/v1/batch", ["Content-Encoding: gzip", JSON_TYPE, BASIC], body);
    expect(event).toMatchObject({ type: "screen", name: "S", propertiesJson: "{}" });
  });
});

describe("rudder-python", () => {
  it("sends an identify's traits in its context alone, gzipped", async () => {
    const body = gzipSync(
      `{"batch": [{"integrations": {"All": true}, "anonymousId": null, "timestamp": "2026-11-21T03:24:21+00:00", "context": {"traits": {"plan": "P"}, "library": {"name": "rudder-analytics-python"}}, "type": "identify", "userId": "u", "messageId": "m", "channel": "server"}], "sentAt": "2026-11-21T03:24:21.564175+00:00"}`,
    );
    const headers = ["User-Agent: analytics-python/2.1.9", "Content-Encoding: gzip", JSON_TYPE, BASIC];
    const [event] = await replay("/v1/batch", headers, body);
    expect(event).toMatchObject({ traitsJson: `{"plan":"P"}`, integrations: { All: true } });
    expect(event?.timestampMs).toBe(RECEIVED_AT_MS - 564);
  });
});

describe("analytics-java", () => {
  it("POSTs /v1/import/ with the key in the body and its context in the envelope", async () => {
    const body = `{"batch":[{"type":"group","groupId":"g","traits":{"spaced key":8},"messageId":"m","timestamp":"2026-11-21T03:24:21.941Z","userId":"u"}],"sentAt":"2026-11-21T03:24:22.941Z","context":{"library":{"name":"analytics-java","version":"3.5.4"},"instanceId":"i"},"sequence":1,"writeKey":"${WRITE_KEY}"}`;
    const headers = [
      "User-Agent: analytics-java/3.5.4",
      "Content-Type: application/json; charset=UTF-8",
      "Accept-Encoding: gzip",
    ];
    const [event] = await replay("/v1/import/", headers, body);
    expect(event).toMatchObject({
      type: "group",
      groupId: "g",
      traitsJson: `{"spaced key":8}`,
      timestampMs: RECEIVED_AT_MS - 1_000,
    });
    expect(JSON.parse(event?.contextJson ?? "")).toMatchObject({ instanceId: "i" });
  });
});

describe("rust segment", () => {
  it.each([
    ["/v1/identify", `{"userId":"u","traits":{"a":1}}`, { type: "identify", traitsJson: `{"a":1}` }],
    ["/v1/track", `{"userId":"u","event":"E","properties":{"a":1}}`, { type: "track", event: "E" }],
    ["/v1/page", `{"userId":"u","name":"N","properties":{}}`, { type: "page", name: "N" }],
    ["/v1/screen", `{"userId":"u","name":"S","properties":{}}`, { type: "screen", name: "S" }],
    ["/v1/group", `{"userId":"u","groupId":"g","traits":{}}`, { type: "group", groupId: "g" }],
    ["/v1/alias", `{"userId":"u1","previousId":"u0"}`, { type: "alias", previousId: "u0", userId: "u1" }],
  ])("POSTs a single call to %s without type, messageId, time or context", async (path, body, expected) => {
    const [event] = await replay(path, [BASIC, JSON_TYPE, "Accept: */*"], body);
    expect(event).toMatchObject({ ...expected, timestampMs: RECEIVED_AT_MS });
    expect(event?.messageId).toMatch(/^made-/);
  });

  it("sends batches with nothing beside them, times in nanoseconds", async () => {
    const body = `{"batch":[{"type":"track","userId":"u","event":"E","properties":{},"timestamp":"2026-11-21T03:24:21.159533476Z"}]}`;
    const [event] = await replay("/v1/batch", [BASIC, JSON_TYPE], body);
    expect(event?.timestampMs).toBe(Date.parse("2026-11-21T03:24:21.159Z"));
  });
});

describe("@segment/analytics-next in a browser", () => {
  it.each([
    ["/v1/i", `"traits":{"a":1}`, { type: "identify", traitsJson: `{"a":1}` }],
    ["/v1/t", `"event":"E","properties":{"a":1}`, { type: "track", event: "E" }],
    ["/v1/p", `"name":"N","properties":{"path":"/"}`, { type: "page", name: "N", propertiesJson: `{"path":"/"}` }],
    ["/v1/s", `"name":"S","properties":{}`, { type: "screen", name: "S" }],
    ["/v1/g", `"groupId":"g","traits":{}`, { type: "group", groupId: "g" }],
    ["/v1/a", `"userId":"u1","previousId":"u0"`, { type: "alias", previousId: "u0", userId: "u1" }],
  ])("POSTs text/plain to %s with the key and sentAt in the event", async (path, fields, expected) => {
    const body = `{"timestamp":"2026-11-21T03:24:17.845Z","integrations":{"Segment.io":true},"anonymousId":"anon",${fields},"context":{"page":{"path":"/"},"userAgent":"Mozilla/5.0","locale":"de"},"messageId":"ajs-next-1763695457845-5e6f8a90-1b2c-4d3e-8f40-a1b2c3d4","writeKey":"${WRITE_KEY}","sentAt":"2026-11-21T03:24:17.850Z","_metadata":{"bundled":["Segment.io"]}}`;
    const headers = [
      TEXT_TYPE,
      BASIC,
      "Origin: https://shop.test",
      "Referer: https://shop.test/",
      "User-Agent: Mozilla/5.0 (X11)",
    ];
    const [event] = await replay(path, headers, body);
    expect(event).toMatchObject({ ...expected, anonymousId: "anon", timestampMs: RECEIVED_AT_MS - 5 });
    expect(JSON.parse(event?.contextJson ?? "")).toMatchObject({ userAgent: "Mozilla/5.0", ip: "127.0.0.1" });
    expect(event?.restJson).not.toContain(WRITE_KEY);
  });

  it("sent no Authorization before: the key in the body alone, no preflight", async () => {
    const body = `{"type":"page","anonymousId":"anon","properties":{},"writeKey":"${WRITE_KEY}","sentAt":"2026-11-21T03:24:17.850Z"}`;
    const [event] = await replay("/v1/p", [TEXT_TYPE, "Origin: https://shop.test"], body);
    expect(event).toMatchObject({ type: "page", anonymousId: "anon", userId: null });
  });

  it("POSTs batches to /v1/b with the key in the envelope and again in each event", async () => {
    const body = `{"writeKey":"${WRITE_KEY}","batch":[{"type":"track","event":"E","anonymousId":"anon","writeKey":"${WRITE_KEY}","timestamp":"2026-11-21T03:24:17.845Z"}],"sentAt":"2026-11-21T03:24:17.850Z"}`;
    const [event] = await replay("/v1/b", [TEXT_TYPE, BASIC, "Origin: https://shop.test"], body);
    expect(event).toMatchObject({ event: "E", timestampMs: RECEIVED_AT_MS - 5 });
    expect(event?.restJson).not.toContain(WRITE_KEY);
  });

  it("sends a retry's count and the same messageId", async () => {
    const body = `{"type":"track","event":"E","userId":"u","messageId":"m","writeKey":"${WRITE_KEY}"}`;
    const [event] = await replay("/v1/t", [TEXT_TYPE, BASIC, "X-Retry-Count: 1"], body);
    expect(event?.messageId).toBe("m");
  });
});

describe("RudderStack's browser library", () => {
  it("sends beacons with the key in the address", async () => {
    const body = `{"batch":[{"type":"track","event":"E","anonymousId":"anon","originalTimestamp":"2026-11-21T03:24:17.845Z"}],"sentAt":"2026-11-21T03:24:17.850Z"}`;
    const [event] = await replay(
      `/beacon/v1/batch?writeKey=${WRITE_KEY}`,
      ["Content-Type: text/plain;charset=UTF-8"],
      body,
    );
    expect(event).toMatchObject({ event: "E", timestampMs: RECEIVED_AT_MS - 5 });
  });
});
