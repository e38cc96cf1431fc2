import { encodeProgress } from "@posthaste/contracts/headers";
import { retryTopicName } from "@posthaste/contracts/topics";
import { NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { createTestKafka, withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { createTopic, remakeTopic } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInstallation, type Installation, type TestDelivery } from "./installation.ts";

/** Of each topic. */
const PARTITIONS = 2;
const LATE_MS = 4000;

let installation: Installation;
let receiver: Receiver;
let configOffset: number;

beforeEach(async () => {
  receiver = await startReceiver();
  installation = await createInstallation([500, LATE_MS]);
  configOffset = await installation.configure("dst", { urls: [{ url: `${receiver.url}/hook`, headers: {} }] });
});
afterEach(async () => {
  await installation.remove();
  await receiver.close();
});

const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const send = (ids: readonly string[]) =>
  installation.send(ids.map((messageId) => ({ messageId, destinationId: "dst", configOffset })));
const sentIds = () => receiver.requests.map(({ headers }) => String(headers["x-message-id"]));
const expectSent = (ids: readonly string[]) =>
  eventually(() => expect(ids.filter((id) => !sentIds().includes(id))).toEqual([]));
const ended = (delivery: TestDelivery) =>
  eventually(() => expect(delivery.failures).toMatchObject([{ code: "topic_mismatch" }]));

async function groupOffsets() {
  const { deliveryGroup: groupId, deliveries } = installation.names;
  const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [deliveries] }));
  return found?.partitions ?? [];
}

describe("the deliveries topic, made anew behind the project's back", () => {
  it("while delivery runs: that one ends, and the next one sends every delivery of the new one", async () => {
    const first = await installation.startDelivery();
    await send(idsOf("old", 20));
    await expectSent(idsOf("old", 20));
    await remakeTopic(installation.names.deliveries, { partitions: PARTITIONS });
    // Soon more than the old one had: the position lies within the new one, and means nothing there.
    const fresh = idsOf("new", 200);
    await send(fresh);
    await ended(first);
    await first.stop();
    const second = await installation.startDelivery();
    await expectSent(fresh);
    expect(second.failures).toEqual([]);
  });

  it("and committed to by a delivery of the old one: the new one is read from its start", async () => {
    const first = await installation.startDelivery();
    const old = idsOf("old", 100);
    await send(old);
    await expectSent(old);
    await first.stop();
    const committed = await groupOffsets();
    const { deliveries, deliveryGroup: groupId } = installation.names;
    await remakeTopic(deliveries, { partitions: PARTITIONS });
    // Less than the old one had: the offsets that are committed lie beyond the end of the new one.
    const fresh = idsOf("new", 40);
    await send(fresh);
    const consumer = createTestKafka().consumer({ groupId });
    await consumer.connect();
    await consumer.subscribe({ topic: deliveries });
    await consumer.run({ autoCommit: false, eachBatch: async () => {} });
    // Again where Kafka was still forgetting the partitions of the topic that is gone.
    await eventually(async () => {
      await consumer.commitOffsets(committed.map((each) => ({ topic: deliveries, ...each })));
      expect(await groupOffsets()).toEqual(committed);
    });
    await consumer.disconnect();
    const second = await installation.startDelivery();
    await expectSent(fresh);
    expect(sentIds()).toHaveLength(140);
    expect(second.failures).toEqual([]);
  });

  it("W6: takes none of its deliveries for a copy of what waits from the old one, nor the reverse", async () => {
    // Each is taken when it comes again, however late that is.
    const tried = new Set<string | undefined>();
    receiver.script("/hook", ({ headers: { "x-message-id": id } }) => {
      const isSecond = tried.has(id);
      tried.add(id);
      return { status: isSecond ? 200 : 503 };
    });
    const sendOne = (messageId: string) =>
      installation.send([{ messageId, destinationId: "dst", configOffset, user: "u" }]);
    const first = await installation.startDelivery({ schedule: { delaysMs: [LATE_MS], windowMs: 60_000 } });
    await sendOne("old");
    await eventually(() => expect(installation.waiting).toHaveLength(1));
    await first.stop();
    await remakeTopic(installation.names.deliveries, { partitions: PARTITIONS });
    // At the same place as the old one, and republished from there.
    await installation.startDelivery({ schedule: { delaysMs: [500], windowMs: 60_000 } });
    await sendOne("new");
    await eventually(() => expect(installation.waiting).toHaveLength(2));
    await eventually(() => expect(sentIds().toSorted()).toEqual(["new", "new", "old", "old"]));
  });
});

describe("a retry topic, made anew behind the project's back", () => {
  it("while delivery runs: that one ends, and the next one sends every delivery of the new one", async () => {
    const topic = retryTopicName(installation.names, 300);
    await createTopic(topic, { partitions: PARTITIONS });
    const producer = createTestKafka().producer({ allowAutoTopicCreation: false });
    await producer.connect();
    const wait = (ids: readonly string[]) =>
      producer.send({
        topic,
        messages: ids.map((messageId) => ({
          key: messageId,
          value: installation.encode({ messageId, destinationId: "dst", configOffset }),
          headers: encodeProgress(NO_PROGRESS),
        })),
      });
    const first = await installation.startDelivery();
    await wait(idsOf("old", 20));
    await expectSent(idsOf("old", 20));
    await remakeTopic(topic, { partitions: PARTITIONS });
    const fresh = idsOf("new", 200);
    await wait(fresh);
    await ended(first);
    await first.stop();
    await installation.startDelivery();
    await expectSent(fresh);
    await producer.disconnect();
  });
});
