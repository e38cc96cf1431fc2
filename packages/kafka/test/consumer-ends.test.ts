import { setTimeout as sleep } from "node:timers/promises";
import { PosthasteError } from "@posthaste/core/errors";
import { kafkaBrokers, withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWindowedConsumer } from "../src/consumer/consumer.ts";
import { allNames, writeRecords } from "./consumer-harness.ts";
import { connectTest } from "./harness.ts";
import { committedOffsets, useMembers } from "./use-members.ts";

const { addMember, prefix, startMember, topicOf } = useMembers("ends");

describe("the end of an owner", () => {
  it("a stop drains, commits and leaves the group at once (C4)", async () => {
    const topic = await topicOf(2);
    await writeRecords(topic, { count: 100, partitions: 2 });
    const first = await startMember({
      groupId: topic,
      topics: [topic],
      workMs: 300,
      window: { maxRecords: 20, maxBytes: 1e6 },
    });
    await eventually(() => expect(first.ran.length).toBeGreaterThan(20));
    await first.consumer.stop();
    expect([...first.finished].sort()).toEqual([...first.ran].sort());
    const { members: left } = await withAdmin(async (admin) => {
      const { groups } = await admin.describeGroups([topic]);
      return groups[0] ?? { members: [] };
    });
    expect(left).toEqual([]);
    const second = await startMember({ groupId: topic, topics: [topic] });
    await eventually(() => expect(first.ran.length + second.ran.length).toBe(100));
    expect([...first.ran, ...second.ran].sort()).toEqual(allNames(100, 2).sort());
  });

  it("a stop leaves the group though a fetch is out that waits for records for a minute", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 1, partitions: 1 });
    const timing = { idleMaxWaitMs: 60_000, sessionTimeoutMs: 60_000 };
    const { consumer, ran } = await startMember({ groupId: topic, topics: [topic], timing });
    await eventually(() => expect(ran).toHaveLength(1));
    // By now the next fetch is out, and nothing comes that would end it.
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([1]));
    await consumer.stop();
    await eventually(async () => {
      const { groups } = await withAdmin((admin) => admin.describeGroups([topic]));
      expect(groups.map(({ members }) => members)).toEqual([[]]);
    });
  });

  it("what was finished above one that hangs is not run again by the next owner (C1)", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 500, partitions: 1 });
    const hangs = (offset: number) => offset === 3 || offset === 250;
    const options = { groupId: topic, topics: [topic], timing: { stopDrainMs: 100 } };
    const first = await startMember({ ...options, workMs: ({ record }) => (hangs(record.offset) ? 60_000 : 0) });
    await eventually(() => expect(first.finished.length).toBe(498));
    await first.consumer.stop();
    expect(await committedOffsets(topic, topic)).toEqual([3]);
    const second = await startMember(options);
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([500]));
    expect(second.ran).toEqual(["0:3", "0:250"]);
  });

  it("a killed member repeats at most what was in flight and what finished since its last commit", async () => {
    const topic = await topicOf(2);
    await writeRecords(topic, { count: 2000, partitions: 2 });
    const options = {
      groupId: topic,
      topics: [topic],
      window: { maxRecords: 50, maxBytes: 1e6 },
      timing: { sessionTimeoutMs: 6000, stopDrainMs: 100 },
    };
    const first = await startMember({ ...options, workMs: 20 });
    const saved = async () =>
      (await committedOffsets(topic, topic)).reduce((sum, offset) => sum + Math.max(0, offset), 0);
    await eventually(async () => {
      expect(first.finished.length).toBeGreaterThan(500);
      expect(await saved()).toBeGreaterThan(0);
    });
    first.kill();
    const inFlight = first.ran.length - first.finished.length;
    const since = first.finished.length - (await saved());
    const second = await startMember({ ...options, workMs: 1 });
    await eventually(() => expect(new Set([...first.finished, ...second.finished]).size).toBe(2000));
    const repeated = first.finished.length + second.finished.length - 2000;
    expect(inFlight).toBeLessThanOrEqual(100);
    expect(repeated).toBeLessThanOrEqual(since);
    expect(second.failures).toEqual([]);
  });
});

describe("a consumer that cannot go on", () => {
  it("ends, naming the partition, when the committed offset is outside the log (C7)", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 10, partitions: 1 });
    const first = await startMember({ groupId: topic, topics: [topic] });
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([10]));
    await first.consumer.stop();
    await writeRecords(topic, { count: 10, partitions: 1 });
    await withAdmin(async (admin) => {
      await admin.fetchTopicOffsets(topic); // kafkajs deletes records only of a topic that it has looked up.
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "15" }] });
    });
    const second = await startMember({ groupId: topic, topics: [topic] });
    await eventually(() =>
      expect(second.failures).toMatchObject([
        { code: "offset_out_of_range", message: expect.stringContaining(`10 of ${topic} partition 0`) },
      ]),
    );
    expect(second.ran).toEqual([]);
  });

  it("ends when its group has taken no commit for the limit (C7)", async () => {
    const topic = await topicOf(1);
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    onTestFinished(() => proxy.close());
    const timing = { stallLimitMs: 1500 };
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      timing,
      route: (broker) => proxy.route(broker),
    });
    await eventually(() => expect(member.consumer.isReady).toBe(true));
    proxy.refuse();
    proxy.cut();
    await eventually(() =>
      expect(member.failures).toMatchObject([
        { code: "group_stalled", message: expect.stringContaining(`group ${topic}`) },
      ]),
    );
  });

  it("ends when a partition's place is not found for the limit, though the others go on (C7)", async () => {
    const topic = await topicOf(1);
    let answers = true;
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      // Longer than an idle group goes without a commit.
      timing: { stallLimitMs: 7000, metadataMaxAgeMs: 300 },
      beforeAdmin: () => {
        if (!answers) throw new PosthasteError("broker_unavailable", "no broker answered", { retryable: true });
      },
    });
    await eventually(() => expect(member.consumer.isReady).toBe(true));
    answers = false;
    await withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
    await eventually(() => expect(member.consumer.owned()).toHaveLength(2));
    // The one that it has works on, and takes commits.
    await writeRecords(topic, { count: 1, partitions: 1 });
    await eventually(async () => expect((await committedOffsets(topic, topic))[0]).toBe(1));
    await eventually(() =>
      expect(member.failures).toMatchObject([
        { code: "group_stalled", message: expect.stringContaining(`${topic} partition 1`) },
      ]),
    );
  });

  it("does not start on a topic that does not exist", async () => {
    const topic = `${prefix}-missing`;
    const member = addMember({ groupId: topic, topics: [topic] });
    await expect(member.consumer.start()).rejects.toMatchObject({ code: "topic_missing" });
  });

  it("waits no longer for unresponsive brokers when it is stopped, also before its topics' ids are known", async () => {
    const connection = connectTest({ brokers: ["127.0.0.1:1"] });
    const failures: Error[] = [];
    const consumer = createWindowedConsumer<string>(connection, {
      groupId: "stopped",
      topics: ["stopped"],
      window: { maxRecords: 10, maxBytes: 1000 },
      take: () => "",
      laneOf: () => null,
      run: () => undefined,
      onFailure: (reason) => failures.push(reason),
    });
    const refused = expect(consumer.start()).rejects.toMatchObject({ code: "closed" });
    await sleep(300);
    await consumer.stop();
    await refused;
    await connection.close();
    expect(failures).toEqual([]);
  });
});
