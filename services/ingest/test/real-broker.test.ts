import type { Event } from "@posthaste/core/event/event";
import { eventually } from "@posthaste/testkit/eventually";
import RudderAnalytics from "@rudderstack/rudder-sdk-node";
import { Analytics } from "@segment/analytics-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RealIngest, startRealIngest } from "./real-broker.ts";
import { SOURCE, WRITE_KEY } from "./test-gateway.ts";

let ingest: RealIngest;
beforeAll(async () => {
  ingest = await startRealIngest();
});
afterAll(() => ingest.stop());

const post = (path: string, body: unknown, key = WRITE_KEY) =>
  fetch(ingest.url + path, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${key}:`)}` },
    body: JSON.stringify(body),
  });
const eventsOf = (userId: string) => ingest.events.filter((event) => event.userId === userId);
/** A client sends a call again after a 503, as it is answered where a busy broker is not asked in time. */
const statusByNewKey = async (): Promise<number> => {
  for (;;) {
    const { status } = await post("/v1/track", { userId: "u", event: "E" }, "wk-new");
    if (status !== 503) return status;
  }
};
const textOf = ({ event, name, groupId, previousId }: Event) => event ?? name ?? groupId ?? previousId ?? null;

describe("against a real broker and registry", () => {
  it("every call that was answered 200 stands in the topic, in a user's order", async () => {
    const numbers = Array.from({ length: 300 }, (_, index) => index);
    const singles = numbers.map((n) => post("/v1/track", { userId: `user-${n % 7}`, event: `E${n}` }));
    const batch = numbers.map((n) => ({ type: "track", userId: "batch", event: `E${n}` }));
    const responses = await Promise.all([...singles, post("/v1/batch", { batch })]);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    await eventually(() => {
      expect(new Set(ingest.events.filter(({ userId }) => userId?.startsWith("user-")).map(textOf)).size).toBe(300);
      expect(eventsOf("batch").map(textOf)).toEqual(numbers.map((n) => `E${n}`));
    });
  });

  it("keeps the calls that it did not take with their reason", async () => {
    const response = await post("/v1/batch", { batch: [{ type: "track", userId: "rejects" }] });
    expect(response.status).toBe(200);
    await eventually(() =>
      expect(ingest.rejected).toMatchObject([
        { sourceId: SOURCE.id, calls: [{ code: "missing_event", callJson: `{"type":"track","userId":"rejects"}` }] },
      ]),
    );
  });

  it("knows a source with the first call after its configuration was acknowledged", async () => {
    expect(await statusByNewKey()).toBe(401);
    const source = { ...SOURCE, id: "src-new", writeKeys: [{ key: "wk-new", expiresAtMs: null }] };
    await ingest.saveSource(source);
    expect(await statusByNewKey()).toBe(200);
    await ingest.saveSource({ ...source, revision: 2, enabled: false });
    await eventually(async () => expect(await statusByNewKey()).toBe(401));
  });

  it("is ready while the brokers acknowledge", () =>
    eventually(() => expect(ingest.readiness()).toEqual({ brokers: true, tables: true, bodies: true })));
});

/** Type and text of the six calls, and how many are expected of each library. */
const SIX = [
  ["alias", "u0"],
  ["group", "g"],
  ["identify", null],
  ["page", "Home"],
  ["screen", "Main"],
  ["track", "Ordered"],
];

/** Each once: a client sends a call again that was not answered in time. */
const byType = (events: readonly Event[]) =>
  [...new Map(events.map((event) => [event.messageId, event])).values()]
    .map((event) => [event.type, textOf(event)])
    .sort(([a], [b]) => String(a).localeCompare(String(b)));

describe("real client libraries, unchanged", () => {
  it("@segment/analytics-node sends all its calls and hears that they arrived", async () => {
    const errors: unknown[] = [];
    const analytics = new Analytics({ writeKey: WRITE_KEY, host: ingest.url, flushInterval: 50 });
    analytics.on("error", (error) => errors.push(error));
    const userId = "segment-node";
    const timestamp = new Date("2012-12-02T00:30:08.276Z");
    analytics.identify({ userId, traits: { email: "e@x.test" } });
    analytics.track({
      userId,
      event: "Ordered",
      properties: { revenue: 39.95 },
      timestamp,
      integrations: { All: false },
    });
    analytics.page({ userId, name: "Home" });
    analytics.screen({ userId, name: "Main" });
    analytics.group({ userId, groupId: "g", traits: { employees: 3 } });
    analytics.alias({ userId, previousId: "u0" });
    await analytics.closeAndFlush();
    await eventually(() => expect(byType(eventsOf(userId))).toEqual(SIX));
    expect(errors).toEqual([]);
    const track = eventsOf(userId).find(({ type }) => type === "track");
    expect(track).toMatchObject({ propertiesJson: `{"revenue":39.95}`, integrations: { All: false } });
    expect(Math.abs((track?.timestampMs ?? 0) - timestamp.getTime())).toBeLessThan(60_000);
    expect(track?.messageId).toMatch(/^node-next-/);
  });

  it("@rudderstack/rudder-sdk-node sends all its calls, gzipped, and hears that they arrived", async () => {
    const client = new RudderAnalytics(WRITE_KEY, { dataPlaneUrl: ingest.url, flushInterval: 50, logLevel: "silly" });
    const userId = "rudder-node";
    client.identify({ userId, traits: { email: "e@x.test" } });
    client.track({ userId, event: "Ordered", properties: { revenue: 39.95 } });
    client.page({ userId, name: "Home" });
    client.screen({ userId, name: "Main" });
    client.group({ userId, groupId: "g", traits: { employees: 3 } });
    client.alias({ userId, previousId: "u0" });
    await client.flush();
    await eventually(() => expect(byType(eventsOf(userId))).toEqual(SIX));
    const identify = eventsOf(userId).find(({ type }) => type === "identify");
    expect(identify?.traitsJson).toBe(`{"email":"e@x.test"}`);
  });
});
