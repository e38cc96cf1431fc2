import { withAdmin } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { topicOffsets } from "../src/connection/topic-offsets.ts";
import { followLog, type LogReader, type LogReaderOptions } from "../src/log/log-reader.ts";
import { createProducer } from "../src/producer/producer.ts";
import { connectTest } from "./harness.ts";
import { closing, connection, connectThroughProxy, producer, topic, useTopic } from "./use-topic.ts";

describe("reading a log without a group", () => {
  useTopic("log", { partitions: 2 });

  const write = (count: number, partition = 0) =>
    producer.send(
      Array.from({ length: count }, (_, index) => ({ topic, key: null, value: Buffer.from(String(index)), partition })),
    );

  /** A reader of partition 0, the offsets that it read and its failure. */
  async function follow(options: Partial<LogReaderOptions> = {}, through = connection) {
    const offsets: number[] = [];
    const failures: Error[] = [];
    const reader: LogReader = await followLog(through, {
      topic,
      partition: 0,
      from: "start",
      onRecords: (records) => void offsets.push(...records.map(({ offset }) => offset)),
      onFailure: (reason) => failures.push(reason),
      ...options,
    });
    closing.push(() => reader.close());
    return { reader, offsets, failures };
  }

  it("reads from the start, from an offset, or only what comes", async () => {
    await write(10);
    const start = await follow();
    const middle = await follow({ from: 6 });
    const end = await follow({ from: "end" });
    await write(2);
    for (const { reader } of [start, middle, end]) await reader.reached(12);
    expect(start.offsets).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(middle.offsets).toEqual([6, 7, 8, 9, 10, 11]);
    expect(end.offsets).toEqual([10, 11]);
  });

  it("reads its own partition only", async () => {
    await write(3, 1);
    await write(2, 0);
    const { reader, offsets } = await follow();
    await reader.reached(2);
    expect(offsets).toEqual([0, 1]);
  });

  it("LR1: waits for each call before the next, and moves its position after it", async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const onRecords = async () => {
      calls += 1;
      await gate.promise;
    };
    await write(1);
    const { reader } = await follow({ onRecords });
    await eventually(() => expect(calls).toBe(1));
    await write(1);
    expect([calls, reader.position]).toEqual([1, 0]);
    gate.resolve();
    await reader.reached(2);
    expect(calls).toBe(2);
  });

  it("LR2: reads on where it was when connections are cut or the broker hangs for a while", async () => {
    const { proxy, through } = await connectThroughProxy();
    const { reader, offsets } = await follow({}, through);
    for (let round = 1; round <= 5; round += 1) {
      await write(20);
      await reader.reached(20 * round);
      proxy.cut();
    }
    proxy.hold();
    await write(20);
    proxy.release();
    await reader.reached(120);
    expect(offsets).toEqual(Array.from({ length: 120 }, (_, offset) => offset));
  });

  it("LR3: moves up to the log's start when retention overtook it", async () => {
    await write(10);
    await connection.withAdmin((admin) =>
      admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "7" }] }),
    );
    const { reader, offsets } = await follow({ from: 2 });
    await reader.reached(10);
    expect(offsets).toEqual([7, 8, 9]);
  });

  it("LR3: fails when its position lies beyond the log's end", async () => {
    await write(3);
    const { failures } = await follow({ from: 100 });
    await eventually(() => expect(failures).toHaveLength(1));
    expect(failures[0]).toMatchObject({ code: "offset_out_of_range" });
  });

  it("LR5: fails when the topic is recreated, also where its position lies within the new one", async () => {
    await write(3);
    const { reader, offsets, failures } = await follow();
    await reader.reached(3);
    await deleteTopics(topic);
    await eventually(() => withAdmin(async (admin) => expect(await admin.listTopics()).not.toContain(topic)));
    await createTopic(topic, { partitions: 2 });
    const again = await createProducer(connection, { name: "again", topics: [topic] });
    closing.push(() => again.close());
    const fresh = Array.from({ length: 50 }, (_, index) => ({ topic, key: null, value: Buffer.from(`${index}`) }));
    await again.send(fresh.map((record) => ({ ...record, partition: 0 })));
    await eventually(() => expect(failures).toMatchObject([{ code: "offset_out_of_range" }]));
    expect(offsets).toEqual([0, 1, 2]);
  });

  it("LR2, LR3: moves up to the log's start when brokers that did not answer meanwhile are back", async () => {
    const { proxy, through } = await connectThroughProxy({ adminPatienceMs: 100 });
    let outages = 0;
    const goOut = () => {
      outages += 1;
      proxy.refuse();
      proxy.cut();
    };
    let isGone = false;
    let clients = 0;
    /** Once its position is gone the first client brings that answer; the next question of any kind finds no broker. */
    const failing: KafkaConnection = {
      ...through,
      createClient: (options) => {
        if (isGone) clients += 1;
        if (clients === 1) proxy.accept();
        if (clients === 2 && outages === 0) goOut();
        return through.createClient(options);
      },
      withAdmin: (ask) => {
        if (isGone && outages === 0) goOut();
        return through.withAdmin(ask);
      },
    };
    await write(10);
    const { reader, offsets, failures } = await follow({}, failing);
    await reader.reached(10);
    proxy.refuse();
    proxy.cut();
    await write(10);
    await connection.withAdmin((admin) =>
      admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "15" }] }),
    );
    await eventually(() => expect(proxy.connections).toBe(0));
    isGone = true;
    await eventually(() => expect(outages).toBe(1));
    await through.withAdmin((admin) => admin.listTopics()).catch(() => {});
    proxy.accept();
    await Promise.race([reader.reached(20), eventually(() => expect(failures).not.toEqual([]))]);
    expect(failures).toEqual([]);
    expect(offsets.slice(10)).toEqual([15, 16, 17, 18, 19]);
  });

  it("tells of a failure of whoever takes the records, and lets nobody wait for it in vain", async () => {
    const onRecords = () => {
      throw new TypeError("a bug");
    };
    const { reader, failures } = await follow({ onRecords });
    const waiting = expect(reader.reached(1)).rejects.toMatchObject({ code: "internal" });
    await write(1);
    await waiting;
    expect(failures).toMatchObject([{ code: "internal", cause: { message: "a bug" } }]);
    await expect(reader.reached(2)).rejects.toMatchObject({ code: "internal" });
  });

  it("lets go of those who wait no longer", async () => {
    const { reader } = await follow();
    await expect(reader.reached(1, 50)).rejects.toMatchObject({ code: "deadline_exceeded" });
    const late = reader.reached(2, 60_000);
    await write(2);
    await late;
  });

  it("rejects those who wait when it is closed", async () => {
    const { reader, failures } = await follow();
    const waiting = expect(reader.reached(1)).rejects.toMatchObject({ code: "closed" });
    await reader.close();
    await waiting;
    expect(failures).toEqual([]);
  });

  it("gives its start up when it is told to while no broker answers", async () => {
    const nowhere = connectTest({ brokers: ["127.0.0.1:1"] });
    closing.push(() => nowhere.close());
    const ending = new AbortController();
    const following = expect(follow({ signal: ending.signal }, nowhere)).rejects.toMatchObject({ code: "closed" });
    ending.abort();
    await following;
  });

  it("does not start on a topic or a partition that does not exist", async () => {
    const missing = { missingPatienceMs: 200 };
    await expect(follow({ topic: uniqueName("missing"), ...missing })).rejects.toMatchObject({ code: "topic_missing" });
    await expect(follow({ partition: 9, ...missing })).rejects.toMatchObject({ code: "topic_missing" });
  });

  it("LR4: begins on a topic that the brokers did not know of when they were asked first", async () => {
    const late = uniqueName("late");
    closing.push(() => deleteTopics(late));
    let clients = 0;
    const counting: KafkaConnection = {
      ...connection,
      createClient: (options) => {
        clients += 1;
        return connection.createClient(options);
      },
    };
    const following = follow({ topic: late, missingPatienceMs: 60_000 }, counting);
    await eventually(() => expect(clients).toBeGreaterThan(1));
    await createTopic(late);
    const { reader } = await following;
    expect(reader.position).toBe(0);
  });

  it("knows where each partition begins and ends", async () => {
    await write(5);
    await connection.withAdmin((admin) =>
      admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "2" }] }),
    );
    expect(await topicOffsets(connection, topic)).toEqual([
      { partition: 0, start: 2, end: 5 },
      { partition: 1, start: 0, end: 0 },
    ]);
  });
});
