import { setTimeout as sleep } from "node:timers/promises";
import { PosthasteError } from "@posthaste/core/errors";
import { createTestKafka, withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { Registry } from "prom-client";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import { createWindowedConsumer } from "../src/consumer/consumer.ts";
import type { Task } from "../src/consumer/windowed-consumer.ts";
import { allNames, createMember, type Member, type MemberOptions, nameOf, writeRecords } from "./consumer-harness.ts";
import { connectTest } from "./harness.ts";

const prefix = uniqueName("window");
const members: Member[] = [];
let made = 0;

afterEach(async () => {
  await Promise.all(members.splice(0).map((member) => member.close()));
});
afterAll(() => deleteTopics(prefix));

async function topicOf(partitions: number): Promise<string> {
  made += 1;
  return createTopic(`${prefix}-${made}`, { partitions });
}

async function startMember(options: MemberOptions): Promise<Member> {
  const member = createMember(options);
  members.push(member);
  await member.consumer.start();
  return member;
}

async function committed(groupId: string, topic: string) {
  const [found] = await withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
  return (found?.partitions ?? []).sort((a, b) => a.partition - b.partition);
}

async function committedOffsets(groupId: string, topic: string): Promise<number[]> {
  return (await committed(groupId, topic)).map(({ offset }) => Number(offset));
}

async function recordsIn(topic: string): Promise<number> {
  const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic));
  return ends.reduce((sum, { high }) => sum + Number(high), 0);
}

describe("a group's commits", () => {
  /** As an operator or a tool would. */
  async function remake(topic: string): Promise<void> {
    await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }));
    await eventually(() => withAdmin(async (admin) => expect(await admin.listTopics()).not.toContain(topic)));
    await createTopic(topic);
  }

  /** Late, as a member that is on its way out may. */
  async function commit(topic: string, { offset, metadata }: { offset: string; metadata: string | null }) {
    const consumer = createTestKafka().consumer({ groupId: topic });
    await consumer.connect();
    await consumer.subscribe({ topic });
    await consumer.run({ autoCommit: false, eachBatch: async () => {} });
    // Again where Kafka was still forgetting those of the topic that is gone.
    await eventually(async () => {
      await consumer.commitOffsets([{ topic, partition: 0, offset, metadata }]);
      expect(await committed(topic, topic)).toMatchObject([{ offset, metadata }]);
    });
    await consumer.disconnect();
  }

  it("to a topic that was made anew since count for nothing: it is read from its start, and those to this one count", async () => {
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
    await remake(topic);
    await writeRecords(topic, { count: 30, partitions: 1 });
    await commit(topic, { offset: old?.offset ?? "", metadata: old?.metadata ?? null });
    await readAll(30);
    await readAll(0);
  });

  it("W-5: to the old one end with the consumer, soon after a topic was made anew", async () => {
    const [topic, other] = [await topicOf(1), await topicOf(1)];
    const member = await startMember({ groupId: topic, topics: [other, topic] });
    await writeRecords(topic, { count: 10, partitions: 1 });
    await eventually(() => expect(member.finished).toHaveLength(10));
    await remake(topic);
    // Its position lies within the new one, and means nothing there.
    await writeRecords(topic, { count: 30, partitions: 1 });
    await eventually(() => expect(member.failures).toMatchObject([{ code: "topic_mismatch" }]), { timeoutMs: 15_000 });
    const next = await startMember({ groupId: topic, topics: [other, topic] });
    await eventually(() => expect(new Set(next.finished).size).toBe(30));
  });

  it("W-5: that the position is outside of a topic that was made anew is told as what it is", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 10, partitions: 1 });
    const member = await startMember({ groupId: topic, topics: [topic] });
    await eventually(() => expect(member.finished).toHaveLength(10));
    await remake(topic);
    await eventually(() => expect(member.failures).toMatchObject([{ code: "topic_mismatch" }]), { timeoutMs: 15_000 });
  });
});

describe("a window", () => {
  it("runs every record once and commits the end of each partition (C1)", async () => {
    const topic = await topicOf(3);
    await writeRecords(topic, { count: 3000, partitions: 3 });
    const member = await startMember({ groupId: topic, topics: [topic], workMs: 5 });
    await eventually(() => expect(member.finished.length).toBe(3000));
    expect([...member.finished].sort()).toEqual(allNames(3000, 3).sort());
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([1000, 1000, 1000]));
    expect(member.failures).toEqual([]);
  });

  it("lets records pass one that hangs, and keeps order within a lane", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 200, partitions: 1 });
    const release = Promise.withResolvers<void>();
    const ran: Task<string>[] = [];
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      laneOf: (_item, { key }) => String(key),
      run: async (task) => {
        ran.push(task);
        if (task.record.offset === 7) await release.promise;
      },
    });
    // Of fifty keys the seventh hangs: its other three records wait, the rest run.
    await eventually(() => expect(ran.length).toBe(197));
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([7]));
    release.resolve();
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([200]));
    const ofLane = ran.filter(({ record }) => String(record.key) === "k7").map(({ record }) => record.offset);
    expect(ofLane).toEqual([7, 57, 107, 157]);
    expect(member.failures).toEqual([]);
  });

  it("takes in no more than it has room for, says so once, and leaves the other partitions alone (C8)", async () => {
    const topic = await topicOf(2);
    await writeRecords(topic, { count: 400, partitions: 2 });
    const held: Task<string>[] = [];
    const full: number[] = [];
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      window: { maxRecords: 10, maxBytes: 1_000_000 },
      ownerOf: (item) => (Number(item) % 4 === 0 ? "fourth" : "other"),
      onFull: ({ partition }) => full.push(partition),
      run: (task) => {
        if (task.record.partition === 0) held.push(task);
        else task.finish();
      },
    });
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([0, 200]));
    const window = member.consumer.owned().find(({ partition }) => partition === 0);
    expect(held.length).toBe(10);
    expect({ records: window?.records, isFull: window?.isFull }).toEqual({ records: 10, isFull: true });
    expect([window?.ownedBy("fourth"), window?.ownedBy("other")]).toEqual([5, 5]);
    expect(full.filter((partition) => partition === 0)).toEqual([0]);
    await eventually(async () => {
      for (const task of held.splice(0)) task.finish();
      expect(await committedOffsets(topic, topic)).toEqual([200, 200]);
    });
  });

  it("waits with a partition's intake until what a record needs was learned", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 20, partitions: 1 });
    const schema = Promise.withResolvers<void>();
    let known = false;
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      prefetch: ({ offset }) => {
        if (offset < 5 || known) return undefined;
        return schema.promise.then(() => {
          known = true;
        });
      },
    });
    await eventually(() => expect(member.ran.length).toBe(5));
    schema.resolve();
    await eventually(() => expect(member.ran).toEqual(allNames(20, 1)));
  });

  it("passes over offsets that hold no record for it (C9)", async () => {
    const topic = await topicOf(1);
    const producer = createTestKafka().producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    for (const end of ["commit", "abort", "commit", "abort"] as const) {
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: [{ value: end }, { value: end }] });
      await transaction[end]();
    }
    await producer.disconnect();
    const items: string[] = [];
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      run: (task) => {
        items.push(task.item);
        task.finish();
      },
    });
    // Four transactions of two records and a marker each.
    await eventually(async () => expect(await committedOffsets(topic, topic)).toEqual([12]));
    expect(items).toEqual(["commit", "commit", "commit", "commit"]);
    expect(member.failures).toEqual([]);
  });

  it("ends by onFailure when a handler rejects, and finishes nothing for it (C2)", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 3, partitions: 1 });
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      run: ({ record }) => (record.offset === 1 ? Promise.reject(new Error("a bug")) : Promise.resolve()),
    });
    await eventually(() => expect(member.failures.map(({ cause }) => String(cause))).toEqual(["Error: a bug"]));
    expect((await committedOffsets(topic, topic))[0]).toBeLessThanOrEqual(1);
    expect(member.consumer.isReady).toBe(false);
  });
});

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
    await eventually(() => expect(first.finished.length).toBeGreaterThan(500));
    first.kill();
    const inFlight = first.ran.length - first.finished.length;
    const second = await startMember({ ...options, workMs: 1 });
    await eventually(() => expect(new Set([...first.finished, ...second.finished]).size).toBe(2000), {
      timeoutMs: 30_000,
    });
    const repeated = first.finished.length + second.finished.length - 2000;
    // 100 records run at once and take 20 ms: 100 ms between commits are 500 of them, and as many while one is on its way.
    expect(inFlight).toBeLessThanOrEqual(100);
    expect(repeated).toBeLessThanOrEqual(inFlight + 1000);
    expect(second.failures).toEqual([]);
  });
});

describe("a group whose members come and go", () => {
  it("loses nothing and repeats next to nothing, since each drains before it joins again (C4, C5)", async () => {
    const topic = await topicOf(6);
    const options = { groupId: topic, topics: [topic], workMs: 10, window: { maxRecords: 100, maxBytes: 1e6 } };
    const first = await startMember(options);
    let enough = false;
    const writing = (async () => {
      while (!enough) await writeRecords(topic, { count: 300, partitions: 6 });
    })();
    const second = await startMember(options);
    await eventually(() => expect(second.ran.length).toBeGreaterThan(500));
    const third = await startMember(options);
    await eventually(() => expect(third.ran.length).toBeGreaterThan(500));
    await second.consumer.stop();
    const ranBefore = first.ran.length + third.ran.length;
    await eventually(() => expect(first.ran.length + third.ran.length).toBeGreaterThan(ranBefore + 1000));
    enough = true;
    await writing;
    const total = await recordsIn(topic);
    const all = [first, second, third];
    await eventually(() => expect(new Set(all.flatMap(({ finished }) => finished)).size).toBe(total));
    expect(all.flatMap(({ failures }) => failures)).toEqual([]);
    const repeated = all.reduce((sum, { ran }) => sum + ran.length, 0) - total;
    expect(repeated).toBe(0);
  });

  it("reads a partition that was added from its beginning (C7)", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 10, partitions: 1 });
    const member = await startMember({ groupId: topic, topics: [topic], timing: { metadataMaxAgeMs: 500 } });
    await eventually(() => expect(member.ran.length).toBe(10));
    await withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
    await eventually(() => writeRecords(topic, { count: 20, partitions: 2, first: 10 }));
    await eventually(() => expect(member.ran.length).toBe(30));
    expect(member.ran.filter((name) => name.startsWith("1:"))).toEqual(
      allNames(20, 2).filter((name) => name[0] === "1"),
    );
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
    const member = await startMember({ groupId: topic, topics: [topic], timing: { stallLimitMs: 1500 } });
    await eventually(() => expect(member.consumer.isReady).toBe(true));
    member.kill();
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
    await eventually(
      () =>
        expect(member.failures).toMatchObject([
          { code: "group_stalled", message: expect.stringContaining(`${topic} partition 1`) },
        ]),
      { timeoutMs: 20_000 },
    );
  });

  it("does not start on a topic that does not exist", async () => {
    const topic = `${prefix}-missing`;
    const member = createMember({ groupId: topic, topics: [topic] });
    members.push(member);
    await expect(member.consumer.start()).rejects.toMatchObject({ code: "topic_missing" });
  });

  it("waits no longer for brokers that do not answer when it is stopped, though it has not asked for its topics' ids yet", async () => {
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

describe("the lag of a partition", () => {
  it("is exact while it is owned, and gone with it", async () => {
    const topic = await topicOf(2);
    await writeRecords(topic, { count: 40, partitions: 2 });
    const registry = new Registry();
    const metrics = createKafkaMetrics(registry);
    const held: Task<string>[] = [];
    const member = await startMember({ groupId: topic, topics: [topic], metrics, run: (task) => void held.push(task) });
    await eventually(() => expect(held.length).toBe(40));
    const lagOf = async (name: string) => {
      const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
      return values.map(({ value }) => value);
    };
    await eventually(async () => expect(await lagOf("posthaste_consumer_lag_records")).toEqual([20, 20]));
    for (const seconds of await lagOf("posthaste_consumer_lag_seconds")) expect(seconds).toBeGreaterThan(0);
    for (const task of held) if (nameOf(task.record) !== "1:19") task.finish();
    await eventually(async () => {
      expect((await lagOf("posthaste_consumer_lag_records")).sort()).toEqual([0, 1]);
      expect((await lagOf("posthaste_consumer_lag_seconds")).filter((seconds) => seconds === 0)).toEqual([0]);
    });
    for (const task of held) task.finish();
    await member.consumer.stop();
    expect(await lagOf("posthaste_consumer_lag_records")).toEqual([]);
    expect(await lagOf("posthaste_consumer_lag_seconds")).toEqual([]);
  });
});
