import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { ledEnds, ledOffsets, offsetsOfTopics, topicOffsets } from "../src/connection/topic-offsets.ts";
import type { Cluster } from "../src/kafkajs/kafkajs-internals.ts";
import { createProducer } from "../src/producer/producer.ts";
import { connectTest } from "./harness.ts";

describe("of topics of a broker", () => {
  const prefix = uniqueName("offsets");
  const topics = [`${prefix}-one`, `${prefix}-three`];
  let connection: KafkaConnection;

  beforeEach(async () => {
    connection = connectTest();
    for (const [index, topic] of topics.entries()) await createTopic(topic, { partitions: 1 + 2 * index });
    const producer = await createProducer(connection, { name: "offsets", topics });
    await producer.send(
      topics.flatMap((topic, index) =>
        Array.from({ length: 3 + index }, (_, nth) => ({
          topic,
          key: null,
          value: Buffer.from("x"),
          partition: nth % (1 + 2 * index),
        })),
      ),
    );
    await producer.close();
    await connection.withAdmin((admin) =>
      admin.deleteTopicRecords({ topic: topics[1] ?? "", partitions: [{ partition: 0, offset: "1" }] }),
    );
  });
  afterEach(async () => {
    await connection.close();
    await deleteTopics(prefix);
  });

  it("tells of several what it tells of each", async () => {
    const offsets = await offsetsOfTopics(connection, topics);
    expect([...offsets]).toEqual([
      [topics[0], [{ partition: 0, start: 0, end: 3 }]],
      [
        topics[1],
        [
          { partition: 0, start: 1, end: 2 },
          { partition: 1, start: 0, end: 1 },
          { partition: 2, start: 0, end: 1 },
        ],
      ],
    ]);
    const ends = await ledEnds(connection, topics);
    for (const topic of topics) {
      expect(offsets.get(topic)).toEqual(await topicOffsets(connection, topic));
      const { offsets: led, leaderless } = await ledOffsets(connection, topic);
      expect(ends.get(topic)).toEqual({
        ends: new Map(led.map(({ partition, end }) => [partition, end])),
        leaderless,
      });
    }
  });

  it("sees a partition that was added since it asked last", async () => {
    const topic = topics[0] ?? "";
    await ledEnds(connection, topics);
    await connection.withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }));
    await expect
      .poll(async () => (await offsetsOfTopics(connection, topics)).get(topic))
      .toEqual([
        { partition: 0, start: 0, end: 3 },
        { partition: 1, start: 0, end: 0 },
      ]);
  });

  it("rejects where one of them does not exist", async () => {
    for (const ask of [ledEnds, offsetsOfTopics])
      await expect(ask(connection, [...topics, `${prefix}-none`])).rejects.toMatchObject({ code: "topic_missing" });
  });
});

describe("of brokers that lack leaders", () => {
  /** The requests, and their topics. */
  let asked: string[];
  beforeEach(() => {
    asked = [];
  });

  /** Two topics of two partitions, from 5 to 9, where only `led` have a leader when the edge is asked for. */
  function connectionOf(
    led: Readonly<Record<"start" | "end", readonly number[]>>,
    known = ["a", "b"],
  ): KafkaConnection {
    const cluster: Partial<Cluster> = {
      addMultipleTargetTopics: async (topics) => void asked.push(`add ${topics}`),
      refreshMetadata: async () => void asked.push("metadata"),
      findTopicPartitionMetadata: (topic) =>
        known.includes(topic) ? [1, 0].map((partitionId) => ({ partitionId, leader: 1 })) : [],
      fetchTopicsOffset: async (topics) => {
        const edge = topics[0]?.fromBeginning ? "start" : "end";
        asked.push(edge);
        const partitions = led[edge].map((partition) => ({ partition, offset: edge === "start" ? "5" : "9" }));
        return topics.map(({ topic }) => ({ topic, partitions }));
      },
    };
    const used = { withAdmin: (use: (admin: unknown, given: typeof cluster) => unknown) => use(undefined, cluster) };
    return used as unknown as KafkaConnection;
  }

  it("names those without one beside the others' ends, in one question about all topics and one for their ends", async () => {
    const ends = await ledEnds(connectionOf({ end: [1], start: [] }), ["a", "b"]);
    const each = { ends: new Map([[1, 9]]), leaderless: [0] };
    expect([...ends]).toEqual([
      ["a", each],
      ["b", each],
    ]);
    expect(asked).toEqual(["add a,b", "metadata", "end"]);
  });

  it.each(["start", "end"] as const)("P1: asks again where a %s is missing, since a leader may come", async (edge) => {
    const connection = connectionOf({ start: [0, 1], end: [0, 1], [edge]: [1] });
    await expect(offsetsOfTopics(connection, ["a", "b"])).rejects.toMatchObject({ type: "LEADER_NOT_AVAILABLE" });
    expect(asked).toEqual(["add a,b", "metadata", "end", "start"]);
  });

  it("asks again where another question about other topics was answered between", async () => {
    const connection = connectionOf({ start: [0, 1], end: [0, 1] }, ["a"]);
    for (const ask of [ledEnds, offsetsOfTopics])
      await expect(ask(connection, ["a", "b"])).rejects.toMatchObject({ type: "LEADER_NOT_AVAILABLE" });
  });

  it("asks nothing about no topic", async () => {
    const connection = connectionOf({ start: [], end: [] });
    expect([...(await ledEnds(connection, [])), ...(await offsetsOfTopics(connection, []))]).toEqual([]);
    expect(asked).not.toContain("metadata");
  });
});
