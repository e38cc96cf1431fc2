import type { Delivery } from "@posthaste/core/delivery/delivery";
import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { toWebhookBody } from "@posthaste/core/routing/body";
import { RoutingTable } from "@posthaste/core/routing/routing";
import { shortName } from "@posthaste/core/routing/short-name";
import type { UnroutedEvent } from "@posthaste/core/routing/unrouted-event";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { makeValue } from "@posthaste/kafka/producer/record-value";
import { testEvent } from "@posthaste/testbed/test-event";
import { describe, expect, it } from "vitest";
import type { RouterMetrics } from "./metrics.ts";
import { RecordRouter, type RecordRouterParts, type RouteContext, toDeliveries } from "./route-records.ts";

const event: Event = testEvent("m1", {
  sourceId: "s1",
  type: "identify",
  userId: null,
  anonymousId: "a1",
  receivedAtMs: 5,
  event: null,
  propertiesJson: null,
  traitsJson: '{"plan":"P"}',
});

function context(written: Delivery[]): RouteContext {
  const routing = new RoutingTable();
  for (const id of ["d2", "d1"]) routing.set(id, { id, enabled: true, sourceIds: ["s1"], payload: "documented" });
  return {
    routing,
    originIncarnation: 3,
    deliveriesTopic: "deliveries",
    deliveryPartitions: 6,
    deliveryCodec: {
      encode: (delivery) => Buffer.from([written.push(delivery)]),
      decode: () => {
        throw new Error("nothing is decoded here");
      },
      prefetch: () => undefined,
    },
    configOffset: () => 42,
  };
}

it("R2: makes the deliveries of an event in order of destination id, each with its origin and the one body", () => {
  const written: Delivery[] = [];
  const records = toDeliveries(event, { partition: 2, offset: 9 }, context(written));
  if (typeof records === "string") throw new Error(records);
  expect(written).toEqual([]);
  const values = records.map(({ value }) => makeValue(value));
  expect(records.map(({ topic, partition, key }) => [topic, partition, String(key)])).toEqual([
    ["deliveries", 3, "d1:a1"],
    ["deliveries", 5, "d2:a1"],
  ]);
  expect(values).toEqual([Buffer.from([1]), Buffer.from([2])]);
  expect(written).toMatchObject(
    ["d1", "d2"].map((destinationId) => ({
      destinationId,
      messageId: "m1",
      sourceId: "s1",
      type: "identify",
      receivedAtMs: 5,
      configOffset: 42,
      originIncarnation: 3,
      originPartition: 2,
      originOffset: 9,
    })),
  );
  expect(written[0]?.body).toBe(written[1]?.body);
  expect(String(written[0]?.body)).toContain('"anonymousId":"a1","traits":{"plan":"P"}');
});

it("makes one body for all destinations of a payload, and none of a payload that nobody wants", () => {
  const written: Delivery[] = [];
  const into = context(written);
  for (const id of ["d0", "d3"]) into.routing.set(id, { id, enabled: true, sourceIds: ["s1"], payload: "full" });
  const records = toDeliveries(event, { partition: 2, offset: 9 }, into);
  if (typeof records === "string") throw new Error(records);
  for (const { value } of records) makeValue(value);
  const bodies = new Map(written.map(({ destinationId, body }) => [destinationId, body]));
  expect(bodies.get("d0")).toBe(bodies.get("d3"));
  expect(bodies.get("d1")).toBe(bodies.get("d2"));
  expect(String(bodies.get("d1"))).toBe(toWebhookBody(event));
  expect(String(bodies.get("d0"))).toBe(toWebhookBody(event, "full"));
});

it("says why an event has none", () => {
  expect(toDeliveries({ ...event, sourceId: "s9" }, { partition: 0, offset: 0 }, context([]))).toBe("no_destination");
  expect(toDeliveries({ ...event, integrations: { Webhooks: false } }, { partition: 0, offset: 0 }, context([]))).toBe(
    "integrations",
  );
});

it("R4: an event is finished when its deliveries are acknowledged, and not before", async () => {
  const acknowledged = Promise.withResolvers<void>();
  const counter = { inc: () => {} };
  const router = new RecordRouter({
    context: context([]),
    suppressed: new Set(),
    eventCodec: { encode: () => Buffer.alloc(0), decode: () => event, prefetch: () => undefined },
    producer: { send: () => acknowledged.promise } as Partial<Producer> as Producer,
    dedupe: null,
    unrouted: { add: () => {}, close: async () => {} },
    unreadable: { put: async () => {} },
    metrics: { events: counter, deliveries: counter } as Partial<RouterMetrics> as RouterMetrics,
  });
  let finished = 0;
  const record = { topic: "events", partition: 0, offset: 9, timestampMs: 0, key: null, value: null, headers: {} };
  const task = { item: event, record, finish: () => (finished += 1) } as Partial<Task<Event>> as Task<Event>;
  const running = router.run(task)?.then(() => (finished += 1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(finished).toBe(0);
  acknowledged.resolve();
  await running;
  expect(finished).toBe(1);
});

/** The fields of an unrouted entry for `event`, beside the cause. */
const ENTRY = {
  messageId: "m1",
  type: "identify",
  originPartition: 2,
  originOffset: 9,
  userKey: "a1",
  event: null,
  receivedAtMs: 5,
  configOffset: 42,
  destinationIds: [],
  firstOffset: null,
  integration: null,
};

/** A router whose deliveries are acknowledged at once, and its effects. */
function createRouter(parts: Partial<RecordRouterParts> = {}) {
  const did = {
    counted: [] as unknown[],
    sent: [] as (readonly OutgoingRecord[])[],
    unrouted: [] as [string, UnroutedEvent][],
    quarantined: [] as unknown[],
    finished: 0,
  };
  const router = new RecordRouter({
    context: context([]),
    suppressed: new Set(),
    eventCodec: {
      encode: () => Buffer.alloc(0),
      decode: (bytes) => {
        if (String(bytes) === "junk") throw new PosthasteError("invalid_input", "it is junk");
        if (String(bytes) === "bug") throw new TypeError("a bug");
        return event;
      },
      prefetch: () => undefined,
    },
    producer: {
      send: async (records: readonly OutgoingRecord[]) => void did.sent.push(records),
    } as Partial<Producer> as Producer,
    dedupe: null,
    unrouted: { add: (sourceId, entry) => void did.unrouted.push([sourceId, entry]), close: async () => {} },
    metrics: {
      events: { inc: ({ outcome }: { outcome: string }) => void did.counted.push(outcome) },
      deliveries: { inc: (count: number) => void did.counted.push(count) },
    } as unknown as RouterMetrics,
    unreadable: { put: async ({ offset }, error) => void did.quarantined.push([offset, error]) },
    ...parts,
  });
  const record = (value: string | null) => ({
    topic: "events",
    partition: 2,
    offset: 9,
    timestampMs: 0,
    key: null,
    value: value === null ? null : Buffer.from(value),
    headers: {},
  });
  const run = (item: Event | PosthasteError) =>
    router.run({ item, record: record(null), finish: () => (did.finished += 1) } as Partial<
      Task<Event | PosthasteError>
    > as Task<Event | PosthasteError>);
  return { router, record, run, did };
}

describe("a record of the events topic", () => {
  it("is decoded to its event", () => {
    const { router, record, did } = createRouter();
    expect(router.take(record("event"))).toBe(event);
    expect(did.quarantined).toEqual([]);
  });

  it("that nothing reads is counted, quarantined, and finished when that is acknowledged", async () => {
    const { router, record, run, did } = createRouter();
    const unreadable = router.take(record("junk"));
    expect([router.take(record(null)), unreadable]).toMatchObject([
      { code: "invalid_input" },
      { message: "it is junk" },
    ]);
    // The task is finished when the promise of its run is resolved.
    await expect(run(unreadable)).resolves.toBeUndefined();
    expect([did.counted, did.quarantined, did.sent]).toEqual([["unreadable"], [[9, unreadable]], []]);
    expect(() => router.take(record("bug"))).toThrow(TypeError);
  });

  it("R1: is sent in one call, counted, and not finished by the router itself", async () => {
    const { run, did } = createRouter();
    await run(event);
    expect(did.sent.map((records) => records.map(({ key }) => String(key)))).toEqual([["d1:a1", "d2:a1"]]);
    expect([did.counted, did.finished, did.unrouted]).toEqual([["routed", 2], 0, []]);
  });

  it("R3: ends the process where its send fails for good: its promise rejects, and it is not finished", async () => {
    const failed = new Error("closed for good");
    const { run, did } = createRouter({
      producer: { send: () => Promise.reject(failed) } as Partial<Producer> as Producer,
    });
    await expect(run(event)).rejects.toBe(failed);
    expect(did.finished).toBe(0);
  });

  it("that was sent before, or leads nowhere, is said to have become nothing, and finished", () => {
    const asked: unknown[] = [];
    const dedupe = {
      firstOffset: (each: Event, { partition, offset }: { partition: number; offset: number }) => {
        asked.push([each.messageId, partition, offset]);
        return each.messageId === "m1" ? 4 : null;
      },
      forget: () => {},
      close: async () => {},
    };
    const { run, did } = createRouter({ dedupe });
    expect(run(event)).toBeUndefined();
    expect(run({ ...event, messageId: "m2", sourceId: "s9" })).toBeUndefined();
    expect(asked).toEqual([
      ["m1", 2, 9],
      ["m2", 2, 9],
    ]);
    expect(did.unrouted).toEqual([
      ["s1", { ...ENTRY, messageId: "m1", cause: "duplicate", firstOffset: 4 }],
      ["s9", { ...ENTRY, messageId: "m2", cause: "no_destination" }],
    ]);
    expect([did.counted, did.finished, did.sent]).toEqual([["duplicate", "no_destination"], 2, []]);
  });

  it("that the source's settings or its own integrations keep back is said to, with what decided", () => {
    const { run, did } = createRouter();
    expect(
      run({ ...event, type: "track", event: "Order Completed", integrations: { Mail: true, All: false } }),
    ).toBeUndefined();
    expect(did.unrouted.splice(0)).toEqual([
      [
        "s1",
        {
          ...ENTRY,
          ...{ type: "track", cause: "integrations", event: "Order Completed" },
          ...{ integration: "All", destinationIds: ["d1", "d2"] },
        },
      ],
    ]);
    const off = context([]);
    for (let index = 0; index < 30; index++) {
      const id = `d${index + 10}`;
      off.routing.set(id, { id, enabled: false, sourceIds: ["s8"], payload: "documented" });
    }
    const other = createRouter({ context: off });
    expect(other.run({ ...event, sourceId: "s8", userId: "u".repeat(300) })).toBeUndefined();
    const destinationIds = Array.from({ length: 20 }, (_, index) => `d${index + 10}`);
    const userKey = shortName("u".repeat(300));
    expect(other.did.unrouted).toEqual([["s8", { ...ENTRY, cause: "destination_off", userKey, destinationIds }]]);
    expect(other.did.counted).toEqual(["destination_off"]);
  });

  it("of a suppressed user becomes nothing, with that cause, and its id is not noted as seen", async () => {
    const asked: unknown[] = [];
    const dedupe = {
      firstOffset: (each: Event) => {
        asked.push(each.messageId);
        return null;
      },
      forget: () => {},
      close: async () => {},
    };
    const suppressed = new Set(["s1:u9"]);
    const { run, did } = createRouter({ dedupe, suppressed });
    expect(run({ ...event, type: "track", event: "Signed Up", userId: "u9" })).toBeUndefined();
    // Nothing of the user but the event's name.
    expect(did.unrouted).toEqual([["s1", { ...ENTRY, type: "track", cause: "suppressed", userKey: null }]]);
    expect([did.counted, did.finished, did.sent, asked]).toEqual([["suppressed"], 1, [], []]);
    suppressed.clear();
    await run({ ...event, userId: "u9" });
    expect([did.sent.length, asked]).toEqual([1, ["m1"]]);
  });

  it("is weighed by what its deliveries take, which is never more than it says", () => {
    const written: Delivery[] = [];
    const ids = { messageId: "é".repeat(90), sourceId: "s1" };
    const records = toDeliveries({ ...event, ...ids }, { partition: 2, offset: 9 }, context(written));
    if (typeof records === "string") throw new Error(records);
    const lengths = records.map(({ value }) => (value as { readonly length: number }).length);
    for (const { value } of records) makeValue(value);
    const { body } = written[0] ?? { body: Buffer.alloc(0) };
    // Three bytes for each character of the ids, and a hundred for the rest.
    expect(lengths).toEqual(Array(2).fill(body.length + 3 * (90 + 2 + 2) + 100));
  });
});
