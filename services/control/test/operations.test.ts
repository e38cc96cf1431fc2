/** Operational events, from a failing destination to the record that the router reads. */
import type { Event } from "@posthaste/core/event/event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { createHealthWriter, urlHealth } from "./health-writer.ts";

const URL_A = "https://a.example/hook";
const MINUTE_MS = 60_000;

let topics: TestTopics;
let control: TestControl;
const events: Event[] = [];
const facts: string[] = [];

beforeAll(async () => {
  topics = await createTestTopics("control");
  await topics.follow<Event>(topics.names.events, (event) => events.push(event));
  await topics.followTable<Buffer>(topics.names.meta, (key) => {
    if (key.startsWith("operations-reported ")) facts.push(key);
  });
  control = await startTestControl(topics);
});

afterAll(async () => {
  await control.stop();
  await topics.remove();
});

async function create(name: string, sourceIds: readonly string[]) {
  const input = { type: "Webhooks", name, sourceIds, settings: { urls: [{ url: URL_A }] } };
  const { status, body } = await control.call("POST", "/v1/destinations", input);
  return { status, body };
}

it("a destination of operations is made as any, and shows its source; it has no other source", async () => {
  const { status, body } = await create("People", ["src_operations"]);
  expect([status, body.sourceIds]).toEqual([201, ["src_operations"]]);
  expect((await control.call("GET", `/v1/destinations/${body.id}`)).body.sourceIds).toEqual(["src_operations"]);
  const source = (await control.call("POST", "/v1/sources", { name: "Shop", kind: "web" })).body.id;
  const mixed = await create("Both", ["src_operations", source]);
  expect([mixed.status, mixed.body.detail]).toEqual([400, expect.stringContaining("src_operations stands alone")]);
  const patched = await control.call("PATCH", `/v1/destinations/${body.id}`, { sourceIds: [source, "src_operations"] });
  expect(patched.status).toBe(400);
});

it("tells of a destination that fails, once, by whichever process leads", async () => {
  const shop = await create("Shop", []);
  const people = await create("More people", ["src_operations"]);
  const health = await createHealthWriter(topics);
  const failedAtMs = Date.now() - 5 * MINUTE_MS;
  const answer = { atMs: failedAtMs, outcome: "retryable", status: 503, error: null, durationMs: 12 } as const;
  for (const { body } of [shop, people]) {
    await health.say("i1", body.id, { failedAtMs, failingSinceMs: failedAtMs, urls: [urlHealth(URL_A, { answer })] });
  }
  // A process begins its first round as soon as it leads.
  await control.stop();
  control = await startTestControl(topics);
  await eventually(() => expect(facts).toEqual([`operations-reported ${shop.body.id}`]));
  await eventually(() => expect(events).toHaveLength(1));
  const [told] = events;
  expect(told).toMatchObject({
    ...{ messageId: `operations-${shop.body.id}-0`, sourceId: "src_operations", type: "track" },
    ...{ userId: shop.body.id, event: "destination.failing" },
  });
  expect(JSON.parse(told?.propertiesJson ?? "")).toEqual({
    ...{ destinationId: shop.body.id, name: "Shop", since: new Date(failedAtMs).toISOString() },
    ...{ origin: "https://a.example", status: 503, error: null },
  });
  await control.stop();
  control = await startTestControl(topics);
  await eventually(() => expect(control.logged()).toContain("operations_reported"));
  expect([events.length, facts.length]).toEqual([1, 1]);
});
