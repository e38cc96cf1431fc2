import type { Delivery } from "@posthaste/core/delivery";
import type { Event } from "@posthaste/core/event";
import { RoutingTable } from "@posthaste/core/routing";
import { expect, it } from "vitest";
import { type RouteContext, toDeliveries } from "./route-records.ts";

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
  expect(records).toEqual([
    { topic: "deliveries", partition: 3, key: Buffer.from("d1:a1"), value: Buffer.from([1]) },
    { topic: "deliveries", partition: 5, key: Buffer.from("d2:a1"), value: Buffer.from([2]) },
  ]);
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
