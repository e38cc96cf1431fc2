import { createTestKafka, withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import type { Task } from "../src/consumer/windowed-consumer.ts";
import { allNames, nameOf, writeRecords } from "./consumer-harness.ts";
import { committedOffsets, useMembers } from "./use-members.ts";

const { startMember, topicOf } = useMembers("window");

/**
 * Running records and the last commit are waited for, and a member is kept, for as long as a busy machine stands still.
 */
const PATIENT = {
  ...{ rebalanceDrainMs: 20_000, stopDrainMs: 20_000, lastCommitMs: 20_000, commitDeadlineMs: 20_000 },
  sessionTimeoutMs: 60_000,
};
/** Longer than a session, which ends by itself where the brokers stand as its member takes leave. */
const JOINED = { timeoutMs: 100_000 };

async function recordsIn(topic: string): Promise<number> {
  const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic));
  return ends.reduce((sum, { high }) => sum + Number(high), 0);
}

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

  it("takes in no more than its limits allow, says so once, and leaves the other partitions alone (C8)", async () => {
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

  it("C12: holds its shares of the working set while it is busy, and all where an owner is held up", async () => {
    const topic = await topicOf(2);
    await writeRecords(topic, { count: 400, partitions: 2 });
    const records = () => member.consumer.owned().map((window) => window.records);
    let most: number | null = null;
    const isHeldUp = () => {
      most ??= Math.max(...records());
      return true;
    };
    const member = await startMember({
      groupId: topic,
      topics: [topic],
      window: { maxRecords: 100, maxBytes: 1_000_000 },
      workingSet: { records: 80, leastShare: 1, isHeldUp, isBusy: () => true },
      ownerOf: () => "receiver",
      run: () => {},
    });
    await eventually(() => expect(records()).toEqual([100, 100]));
    // It is asked first at a look that finds a share filled.
    expect(most).toBe(40);
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

describe("a group whose members come and go", () => {
  it("loses nothing and repeats next to nothing, since each drains before it joins again (C4, C5)", async () => {
    const topic = await topicOf(6);
    const window = { maxRecords: 100, maxBytes: 1e6 };
    const options = { groupId: topic, topics: [topic], workMs: 10, window, timing: PATIENT };
    const first = await startMember(options);
    let enough = false;
    const writing = (async () => {
      while (!enough) await writeRecords(topic, { count: 300, partitions: 6 });
    })();
    const second = await startMember(options);
    await eventually(() => expect(second.ran.length).toBeGreaterThan(500), JOINED);
    const third = await startMember(options);
    await eventually(() => expect(third.ran.length).toBeGreaterThan(500), JOINED);
    await second.consumer.stop();
    const ranBefore = first.ran.length + third.ran.length;
    await eventually(() => expect(first.ran.length + third.ran.length).toBeGreaterThan(ranBefore + 1000), JOINED);
    enough = true;
    await writing;
    const total = await recordsIn(topic);
    const all = [first, second, third];
    await eventually(() => expect(new Set(all.flatMap(({ finished }) => finished)).size).toBe(total), JOINED);
    expect(all.flatMap(({ failures }) => failures)).toEqual([]);
    const repeated = all.reduce((sum, { ran }) => sum + ran.length, 0) - total;
    expect(repeated).toBe(0);
  }, 360_000);

  it("reads a partition that was added from its beginning (C7)", async () => {
    const topic = await topicOf(1);
    await writeRecords(topic, { count: 10, partitions: 1 });
    const member = await startMember({ groupId: topic, topics: [topic], timing: { metadataMaxAgeMs: 500 } });
    await eventually(() => expect(member.ran.length).toBe(10));
    const written = writeRecords(topic, { count: 20, partitions: 2, first: 10 });
    await withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
    await written;
    // With the metadata read anew, the group is formed anew too.
    await eventually(() => expect(member.ran.length).toBe(30));
    expect(member.ran.filter((name) => name.startsWith("1:"))).toEqual(
      allNames(20, 2).filter((name) => name[0] === "1"),
    );
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
