/** Rule: CN5 of consumer.ts. */
import { createTestKafka } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { remakeTopic } from "@posthaste/testkit/topics";
import { describe, expect, it } from "vitest";
import { createMember, writeRecords } from "./consumer-harness.ts";
import { committed, useMembers } from "./use-members.ts";

const { startMember, topicOf } = useMembers("remade");

describe("a group's commits", () => {
  /** Late, as a member that is on its way out may. */
  async function commit(topic: string, { offset, metadata }: { offset: string; metadata: string | null }) {
    const consumer = createTestKafka().consumer({ groupId: topic });
    await consumer.connect();
    await consumer.subscribe({ topic });
    await consumer.run({ autoCommit: false, eachBatch: async () => {} });
    // Again where Kafka was still forgetting the partitions of the topic that is gone.
    await eventually(async () => {
      await consumer.commitOffsets([{ topic, partition: 0, offset, metadata }]);
      expect(await committed(topic, topic)).toMatchObject([{ offset, metadata }]);
    });
    await consumer.disconnect();
  }

  it("to a topic that was recreated since count for nothing: it is read from its start", async () => {
    const topic = await topicOf(1);
    const readAll = async (count: number) => {
      const member = createMember({ groupId: topic, topics: [topic] });
      await member.consumer.start();
      await eventually(() => expect(member.consumer.isReady && member.finished.length).toBe(count));
      await member.close();
      expect(member.failures).toEqual([]);
    };
    await writeRecords(topic, { count: 10, partitions: 1 });
    await readAll(10);
    await readAll(0);
    const [old] = await committed(topic, topic);
    await remakeTopic(topic);
    await writeRecords(topic, { count: 30, partitions: 1 });
    await commit(topic, { offset: old?.offset ?? "", metadata: old?.metadata ?? null });
    await readAll(30);
    await readAll(0);
  });

  it("CN5: to the old one end with the consumer, soon after a topic was recreated", async () => {
    const [topic, other] = [await topicOf(1), await topicOf(1)];
    const member = await startMember({ groupId: topic, topics: [other, topic] });
    await writeRecords(topic, { count: 10, partitions: 1 });
    await eventually(() => expect(member.finished).toHaveLength(10));
    await remakeTopic(topic);
    // Its position lies within the new one, and means nothing there.
    await writeRecords(topic, { count: 30, partitions: 1 });
    await eventually(() => expect(member.failures).toMatchObject([{ code: "topic_mismatch" }]));
    const next = await startMember({ groupId: topic, topics: [other, topic] });
    await eventually(() => expect(new Set(next.finished).size).toBe(30));
  });

  it("CN5: that the position is outside of a topic that was recreated is told as what it is", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 10, partitions: 1 });
    const member = await startMember({ groupId: topic, topics: [topic] });
    await eventually(() => expect(member.finished).toHaveLength(10));
    await remakeTopic(topic);
    await eventually(() => expect(member.failures).toMatchObject([{ code: "topic_mismatch" }]));
  });
});
