import { OriginCheckpoint } from "@posthaste/core/delivery/origin";
import { testEvent } from "@posthaste/testbed/test-event";
import { createTestKafka, withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { remakeTopic } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInstallation, type Installation } from "./installation.ts";

const PARTITIONS = 2;

let installation: Installation;

beforeEach(async () => {
  installation = await createInstallation();
  await installation.configure("dst_a", {});
});

afterEach(() => installation.remove());

const remakeEvents = () => remakeTopic(installation.names.events, { partitions: PARTITIONS });

const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const send = (ids: readonly string[]) =>
  installation.send(ids.map((id, index) => testEvent(id, { userId: `u${index % 7}` })));

/** The message ids that delivery would send of the routers' records (D2), in the order of the log. */
function passed(): readonly string[] {
  const checkpoints = new Map<number, OriginCheckpoint>();
  return installation.deliveries.flatMap((delivery) => {
    const checkpoint = checkpoints.get(delivery.partition) ?? new OriginCheckpoint();
    checkpoints.set(delivery.partition, checkpoint);
    const isRepeat = checkpoint.isRepeat(delivery);
    checkpoint.note(delivery);
    return isRepeat ? [] : [delivery.messageId];
  });
}

const expectPassed = (ids: readonly string[]) => eventually(() => expect(new Set(passed())).toEqual(new Set(ids)));

describe("the events topic, made anew behind the project's back", () => {
  it("while no router runs: every event of the new one is delivered", async () => {
    const first = await installation.startRouter();
    const old = idsOf("old", 60);
    await send(old);
    await expectPassed(old);
    await first.stop();
    await remakeEvents();
    const remade = idsOf("new", 40);
    await send(remade);
    await installation.startRouter();
    await expectPassed([...old, ...remade]);
    // D2 has nothing to drop here, so that a missing record cannot hide behind it.
    expect(passed()).toHaveLength(100);
  });

  it("while a router runs: that one ends, and the next one delivers every event of the new one", async () => {
    const first = await installation.startRouter();
    await send(["a", "b"]);
    await expectPassed(["a", "b"]);
    await remakeEvents();
    // Soon more than the old one had: the running router's position lies within the new log, and means nothing there.
    const remade = idsOf("new", 80);
    await send(remade);
    await eventually(() => expect(first.failures).toHaveLength(1));
    await first.stop();
    const second = await installation.startRouter();
    await expectPassed(["a", "b", ...remade]);
    expect(second.failures).toEqual([]);
  });

  it("and committed to by a router of the old one: the new one is read from its start", async () => {
    const first = await installation.startRouter();
    const old = idsOf("old", 20);
    await send(old);
    await expectPassed(old);
    await first.stop();
    const { names } = installation;
    const groupOffsets = () =>
      withAdmin((admin) => admin.fetchOffsets({ groupId: names.routerGroup, topics: [names.events] }));
    const [committed] = await groupOffsets();
    await remakeEvents();
    const remade = idsOf("new", 60);
    await send(remade);
    // A late commit of the old router, after Kafka forgot the commits of the topic that is gone.
    const consumer = createTestKafka().consumer({ groupId: names.routerGroup });
    await consumer.connect();
    await consumer.subscribe({ topic: names.events });
    await consumer.run({ autoCommit: false, eachBatch: async () => {} });
    const offsets = (committed?.partitions ?? []).map((each) => ({ topic: names.events, ...each }));
    await eventually(() => consumer.commitOffsets(offsets));
    await consumer.disconnect();
    expect((await groupOffsets())[0]?.partitions).toEqual(committed?.partitions);
    await installation.startRouter();
    await expectPassed([...old, ...remade]);
  });
});

describe("a committed offset outside of the log", () => {
  it("is refused with the command that raises the topic generation", async () => {
    const first = await installation.startRouter();
    await send(idsOf("old", 20));
    await eventually(() => expect(installation.deliveries).toHaveLength(20));
    await first.stop();
    const { names } = installation;
    await withAdmin(async (admin) => {
      const partitions = [0, 1].map((partition) => ({ partition, offset: "1000" }));
      await admin.setOffsets({ groupId: names.routerGroup, topic: names.events, partitions });
    });
    const second = await installation.startRouter();
    await eventually(() => expect(second.failures).toHaveLength(1));
    expect(second.failures[0]).toMatchObject({ code: "offset_out_of_range" });
    expect(second.failures[0]?.message).toContain("services/control/src/topics-main.ts --raise-incarnation");
  });
});
