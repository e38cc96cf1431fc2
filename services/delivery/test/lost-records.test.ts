/** Rule: C7 (docs/design.md). */
import { type AcceptedLoss, acceptedLossKey, encodeAcceptedLoss } from "@posthaste/contracts/accepted-loss";
import { encodeProgress } from "@posthaste/contracts/headers";
import { retryTopicName } from "@posthaste/contracts/topics";
import { NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { createTestKafka, withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createInstallation, drafts, type Installation } from "./installation.ts";

const DELAY_MS = 1000;

let installation: Installation;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  installation = await createInstallation([DELAY_MS]);
});
afterEach(async () => {
  await installation.remove();
  await receiver.close();
});

async function accept(loss: AcceptedLoss): Promise<void> {
  const producer = createTestKafka().producer();
  await producer.connect();
  const message = { key: acceptedLossKey(loss), value: encodeAcceptedLoss(loss) };
  await producer.send({ topic: installation.names.meta, messages: [message] });
  await producer.disconnect();
}

it("C7: goes on behind waiting records that were deleted, once somebody accepted that they are lost", async () => {
  const { names } = installation;
  const topic = retryTopicName(names, DELAY_MS);
  const configOffset = await installation.configure("dst", { urls: [{ url: `${receiver.url}/hook`, headers: {} }] });
  const progress = { ...NO_PROGRESS, attempts: 1, windowStartMs: Date.now(), deadlineMs: Date.now() + 600_000 };
  for (const draft of drafts("dst", 3, configOffset)) {
    await installation.sendRaw(topic, installation.encode(draft), encodeProgress(progress));
  }
  const partition = await withAdmin(async (admin) => {
    const ends = await admin.fetchTopicOffsets(topic);
    const found = ends.find(({ high }) => Number(high) >= 3)?.partition ?? -1;
    await admin.setOffsets({ groupId: names.retryGroup, topic, partitions: [{ partition: found, offset: "0" }] });
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: found, offset: "2" }] });
    return found;
  });
  await accept({ topic, partition, topicId: null, from: 0, to: 2, records: 2, beforeMs: 1, atMs: 1 });
  const delivery = await installation.startDelivery();
  await eventually(() => expect(receiver.requests.map(({ headers }) => headers["x-message-id"])).toEqual(["dst-2"]));
  expect(delivery.failures).toEqual([]);
});
