import { REPUBLISHED_AT_HEADER } from "@posthaste/contracts/headers";
import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { type Member, type MemberOptions, writeRecords } from "./consumer-harness.ts";
import { useMembers } from "./use-members.ts";

const { addMember, topicOf } = useMembers("due");

function retryTopic(partitions: number, timestamps = "LogAppendTime"): Promise<string> {
  return topicOf(partitions, { "message.timestamp.type": timestamps });
}

interface Release {
  readonly offset: number;
  readonly partition: number;
  /** Ms from the append time to the run. */
  readonly afterMs: number;
}

async function startWaiting(options: MemberOptions): Promise<{ member: Member; released: Release[] }> {
  const released: Release[] = [];
  const member = addMember({
    ...options,
    run: (task) => {
      const { offset, partition, timestampMs } = task.record;
      released.push({ offset, partition, afterMs: Date.now() - timestampMs });
      task.finish();
    },
  });
  await member.consumer.start();
  return { member, released };
}

describe("records of a retry topic", () => {
  it("leave when they are due, not before, and in order (W1, W3)", async () => {
    const topic = await retryTopic(2);
    const { released } = await startWaiting({ groupId: topic, topics: [topic], delayMsOf: () => 1500 });
    await writeRecords(topic, { count: 20, partitions: 2 });
    await writeRecords(topic, { count: 20, partitions: 2, first: 20 });
    await eventually(() => expect(released.length).toBe(40));
    for (const { afterMs } of released) expect(afterMs).toBeGreaterThanOrEqual(1500);
    for (const partition of [0, 1]) {
      const offsets = released.filter((each) => each.partition === partition).map(({ offset }) => offset);
      expect(offsets).toEqual(Array.from({ length: 20 }, (_, offset) => offset));
    }
  });

  it("that fell due while nobody read leave at once (W1)", async () => {
    // Written ten minutes ago by the broker's time, which such a topic takes from the writer: a delay of five is over.
    const topic = await retryTopic(1, "CreateTime");
    await writeRecords(topic, { count: 5000, partitions: 1, aheadMs: -600_000 });
    const { released } = await startWaiting({ groupId: topic, topics: [topic], delayMsOf: () => 300_000 });
    await eventually(() => expect(released.length).toBe(5000));
  });

  it("wait out their delay from the republished record, though the broker's clock is behind (W1)", async () => {
    const topic = await retryTopic(1, "CreateTime");
    const { member, released } = await startWaiting({ groupId: topic, topics: [topic], delayMsOf: () => 1500 });
    await eventually(() => expect(member.consumer.isReady).toBe(true));
    const republishedAtMs = Date.now();
    const headers = { [REPUBLISHED_AT_HEADER]: String(republishedAtMs) };
    await writeRecords(topic, { count: 300, partitions: 1, aheadMs: -1_800_000, headers });
    await eventually(() => expect(released.length).toBeGreaterThan(0));
    expect(Date.now() - republishedAtMs).toBeGreaterThanOrEqual(1500);
    await eventually(() => expect(released.length).toBe(300));
  });

  it("wait in one topic without holding up another", async () => {
    const [slow, quick] = [await retryTopic(1), await retryTopic(1)];
    const { member, released } = await startWaiting({
      groupId: quick,
      topics: [slow, quick],
      delayMsOf: (topic) => (topic === slow ? 3_600_000 : 200),
    });
    await writeRecords(slow, { count: 10, partitions: 1 });
    await eventually(() => expect(member.consumer.isReady).toBe(true));
    await writeRecords(quick, { count: 10, partitions: 1 });
    await eventually(() => expect(released.length).toBe(10));
    const [place] = await withAdmin((admin) => admin.fetchOffsets({ groupId: quick, topics: [slow] }));
    expect(["0", "-1"]).toContain(place?.partitions[0]?.offset);
  });

  it("that a broker's wrong clock dated into the future wait their delay from when they were seen (W1)", async () => {
    // The broker refuses a time that is more than an hour ahead.
    const topic = await retryTopic(1, "CreateTime");
    const startedMs = Date.now();
    const { released } = await startWaiting({ groupId: topic, topics: [topic], delayMsOf: () => 1000 });
    await writeRecords(topic, { count: 300, partitions: 1, aheadMs: 1_800_000 });
    await eventually(() => expect(released.length).toBe(300));
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(1000);
  });
});
