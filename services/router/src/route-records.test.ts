import type { Delivery } from "@posthaste/core/delivery";
import type { Event } from "@posthaste/core/event";
import { SILENT_LOG } from "@posthaste/core/log";
import { RoutingTable } from "@posthaste/core/routing";
import { makeValue } from "@posthaste/kafka/place-record";
import type { Producer } from "@posthaste/kafka/producer";
import type { Task } from "@posthaste/kafka/window";
import { expect, it } from "vitest";
import type { RouterMetrics } from "./metrics.ts";
import { RecordRouter, type RouteContext, toDeliveries } from "./route-records.ts";

const event: Event = {
  messageId: "m1",
  sourceId: "s1",
  type: "identify",
  userId: null,
  anonymousId: "a1",
  timestampMs: 0,
  receivedAtMs: 5,
  integrations: {},
  event: null,
  name: null,
  groupId: null,
  previousId: null,
  propertiesJson: null,
  traitsJson: '{"plan":"P"}',
  contextJson: "{}",
  restJson: null,
};

function context(written: Delivery[]): RouteContext {
  const routing = new RoutingTable();
  for (const id of ["d2", "d1"]) routing.set(id, { id, enabled: true, sourceIds: ["s1"] });
  return {
    routing,
    originLogId: 3,
    deliveriesTopic: "deliveries",
    deliveryPartitions: 6,
    deliveryCodec: {
      encode: (delivery) => Buffer.from([written.push(delivery)]),
      decode: () => {
        throw new Error("nothing is decoded here");
      },
      learn: () => undefined,
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
      originLogId: 3,
      originPartition: 2,
      originOffset: 9,
    })),
  );
  expect(written[0]?.body).toBe(written[1]?.body);
  expect(String(written[0]?.body)).toContain('"anonymousId":"a1","traits":{"plan":"P"}');
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
    eventCodec: { encode: () => Buffer.alloc(0), decode: () => event, learn: () => undefined },
    producer: { send: () => acknowledged.promise } as Partial<Producer> as Producer,
    dedupe: null,
    unrouted: { add: () => {}, close: async () => {} },
    metrics: { events: counter, deliveries: counter } as Partial<RouterMetrics> as RouterMetrics,
    log: SILENT_LOG,
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
