/** Rule: DD4 of dedupe.ts. */
import { EVENT_TYPES } from "@posthaste/core/event/event";
import { testEvent } from "@posthaste/testbed/test-event";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstallation, type Installation, type ReadDelivery, type TestRouter } from "./installation.ts";

let installation: Installation;
let router: TestRouter;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.configure("dst_b", {});
  await installation.configure("dst_a", {});
  await installation.configure("dst_off", { enabled: false });
  await installation.configure("dst_other", { sourceIds: ["src_2"] });
  router = await installation.startRouter();
});

afterAll(() => installation.remove());

const deliveriesOf = (messageId: string): ReadDelivery[] =>
  installation.deliveries.filter((delivery) => delivery.messageId === messageId);

const causesOf = (messageId: string) =>
  installation.unrouted.flatMap(({ events }) => events.filter((entry) => entry.messageId === messageId));

describe("an event", () => {
  it("R2: becomes one delivery for each enabled destination of its source, by id, with its origin", async () => {
    await installation.send([testEvent("two")]);
    const found = await eventually(() => {
      const deliveries = deliveriesOf("two");
      expect(deliveries).toHaveLength(2);
      return deliveries.sort((a, b) => (a.destinationId < b.destinationId ? -1 : 1));
    });
    expect(found.map(({ destinationId, key }) => [destinationId, key])).toEqual([
      ["dst_a", "dst_a:u1"],
      ["dst_b", "dst_b:u1"],
    ]);
    const [first, second] = found;
    expect(first).toMatchObject({ sourceId: "src_1", type: "track", receivedAtMs: 1_600_000_000_000 });
    expect(first?.configOffset).toBeGreaterThanOrEqual(3);
    expect(first?.originIncarnation).toBeGreaterThan(0);
    expect([second?.originPartition, second?.originOffset]).toEqual([first?.originPartition, first?.originOffset]);
    expect(String(first?.body)).toBe(
      '{"version":1,"type":"track","userId":"u1","event":"E","properties":{},"timestamp":"2020-01-02T03:04:05.678Z","context":{}}',
    );
  });

  it("says in its deliveries how it is named, and what their body has no place for", async () => {
    const page = { type: "page", event: null, name: "Home", integrations: { All: true } } as const;
    await installation.send([
      testEvent("named-track"),
      testEvent("named-page", { ...page, restJson: '{"category":"Shop"}' }),
      testEvent("named-screen", { ...page, type: "screen", propertiesJson: '{"a":1}' }),
    ]);
    const saidOf = (messageId: string) => deliveriesOf(messageId).map(({ event, restJson }) => [event, restJson]);
    await eventually(() => expect(saidOf("named-track")).toEqual(Array(2).fill(["E", null])));
    const beside = '{"category":"Shop","name":"Home","integrations":{"All":true}}';
    await eventually(() => expect(saidOf("named-page")).toEqual(Array(2).fill(["Home", beside])));
    const screen = '{"properties":{"a":1},"integrations":{"All":true}}';
    await eventually(() => expect(saidOf("named-screen")).toEqual(Array(2).fill(["Home", screen])));
  });

  it.each(EVENT_TYPES)("of type %s passes", async (type) => {
    await installation.send([testEvent(`type-${type}`, { type })]);
    await eventually(() => expect(deliveriesOf(`type-${type}`).map((delivery) => delivery.type)).toEqual([type, type]));
  });

  it("keeps its user's order, to each destination", async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `order-${index}`);
    await installation.send(ids.map((id) => testEvent(id, { userId: "ordered" })));
    await eventually(() => {
      for (const destinationId of ["dst_a", "dst_b"]) {
        const passed = installation.deliveries.filter(({ key }) => key === `${destinationId}:ordered`);
        expect(passed.map(({ messageId }) => messageId)).toEqual(ids);
      }
    });
  });
});

describe("what is not passed on", () => {
  it("stands in the unrouted topic with its cause", async () => {
    await installation.send([
      testEvent("nowhere", { sourceId: "src_3" }),
      testEvent("all-off", { integrations: { All: false } }),
      testEvent("go-off", { integrations: { all: false } }),
      testEvent("named", { integrations: { All: false, Webhooks: true } }),
    ]);
    await eventually(() => {
      expect(causesOf("nowhere")).toMatchObject([
        { cause: "no_destination", type: "track", receivedAtMs: expect.any(Number) },
      ]);
      expect(causesOf("all-off")).toMatchObject([{ cause: "integrations", destinationIds: ["dst_a", "dst_b"] }]);
      expect(causesOf("go-off")).toMatchObject([{ cause: "integrations" }]);
      expect(deliveriesOf("named")).toHaveLength(2);
    });
    expect([...deliveriesOf("nowhere"), ...deliveriesOf("all-off"), ...deliveriesOf("go-off")]).toEqual([]);
  });

  it("is a second event with the message id of the same source, and not one of another source", async () => {
    await installation.send([testEvent("again"), testEvent("again"), testEvent("again", { sourceId: "src_2" })]);
    await eventually(() => {
      expect(causesOf("again")).toMatchObject([{ cause: "duplicate", firstOffset: expect.any(Number) }]);
      expect(
        deliveriesOf("again")
          .map(({ destinationId }) => destinationId)
          .sort(),
      ).toEqual(["dst_a", "dst_b", "dst_other"]);
    });
  });

  it("DD4: is not an event whose id was chosen to have the hash of another's", async () => {
    // Both have one hash without a seed; they were found in a second.
    const [one, other] = ["01000111001000110011", "10100000100001101010"].map((bits) =>
      bits.replaceAll("0", "a").replaceAll("1", "\u8061"),
    );
    await installation.send([testEvent(String(one)), testEvent(String(other)), testEvent("behind-both")]);
    await eventually(() => expect(deliveriesOf("behind-both")).toHaveLength(2));
    expect([deliveriesOf(String(one)).length, deliveriesOf(String(other)).length]).toEqual([2, 2]);
  });

  it("is a record that nothing reads, and it stops nothing", async () => {
    await installation.sendRaw(Buffer.from("no event"));
    await installation.sendRaw(null);
    await installation.send([testEvent("after-poison", { userId: "k" }), testEvent("after-poison-2", { userId: "l" })]);
    await eventually(() => {
      expect(deliveriesOf("after-poison")).toHaveLength(2);
      expect(deliveriesOf("after-poison-2")).toHaveLength(2);
    });
  });

  it("is a record of another schema that the registry knows, and it stops nothing", async () => {
    await installation.sendRaw(installation.strayValue, { key: "src_1:k" });
    await installation.send([testEvent("after-stray", { userId: "k" })]);
    await eventually(() => expect(deliveriesOf("after-stray")).toHaveLength(2));
    expect(router.failures).toEqual([]);
    await eventually(async () =>
      expect(await router.registry.metrics()).toContain('posthaste_routed_events_total{outcome="unreadable"} 3'),
    );
  });
});

describe("a record of another schema among the destinations", () => {
  it("changes nothing of the one whose key it has, and is counted", async () => {
    const { names, strayValue } = installation;
    await installation.sendRaw(strayValue, {
      topic: names.destinationConfig,
      key: "dst_a",
      headers: { revision: "99" },
    });
    await eventually(async () =>
      expect(await router.registry.metrics()).toContain(
        `posthaste_unreadable_records_total{topic="${names.destinationConfig}",reason="not_of_schema"} 1`,
      ),
    );
    await installation.send([testEvent("after-table-stray")]);
    await eventually(() => expect(deliveriesOf("after-table-stray")).toHaveLength(2));
    expect(router.failures).toEqual([]);
  });
});

describe("a change of a destination", () => {
  it("is obeyed by the events that follow", async () => {
    await installation.configure("dst_new", {});
    await eventually(async () => {
      const id = `probe-${performance.now()}`;
      await installation.send([testEvent(id)]);
      await eventually(() => expect(deliveriesOf(id).length).toBeGreaterThanOrEqual(2));
      expect(deliveriesOf(id)).toHaveLength(3);
    });
    await installation.configure("dst_new", undefined);
    await eventually(async () => {
      const id = `probe-${performance.now()}`;
      await installation.send([testEvent(id)]);
      await eventually(() => expect(deliveriesOf(id).length).toBeGreaterThanOrEqual(2));
      expect(deliveriesOf(id)).toHaveLength(2);
    });
  });
});
