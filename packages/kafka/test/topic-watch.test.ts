import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connect.ts";
import { readTopicId, TopicIdQuestion } from "../src/topic-id.ts";
import { TopicWatch } from "../src/topic-watch.ts";
import { connectTest } from "./harness.ts";

let topic: string;
let connection: KafkaConnection;

beforeEach(async () => {
  topic = await createTopic(uniqueName("watched"), { partitions: 2 });
  connection = connectTest();
});
afterEach(async () => {
  await connection.close();
  await deleteTopics(topic);
});

async function remake(): Promise<void> {
  await deleteTopics(topic);
  await eventually(async () => expect(await connection.withAdmin((admin) => admin.listTopics())).not.toContain(topic));
  await createTopic(topic, { partitions: 2 });
}

describe("a topic's id", () => {
  it("stays while the topic does, and is another for one that was made anew", async () => {
    const first = await readTopicId(connection, topic);
    expect(first).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(await readTopicId(connection, topic)).toBe(first);
    await remake();
    const second = await readTopicId(connection, topic);
    expect(second).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(second).not.toBe(first);
  });

  it("is asked for again on a new connection when the old one was cut, and is missing for a topic that does not exist", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    const through = connectTest({ route: (broker) => proxy.route(broker) });
    const question = new TopicIdQuestion(through, topic);
    const first = await question.ask();
    proxy.cut();
    await eventually(async () => expect(await question.ask()).toBe(first));
    await deleteTopics(topic);
    await eventually(() => expect(question.ask()).rejects.toMatchObject({ code: "topic_missing" }));
    question.close();
    await through.close();
    await proxy.close();
  });
});

describe("a watch of a topic", () => {
  it("tells once that it was made anew, and nothing before", async () => {
    let remade = 0;
    const topicId = await readTopicId(connection, topic);
    const watch = new TopicWatch(connection, { topic, topicId, everyMs: 50, onRemade: () => (remade += 1) });
    const other = new TopicWatch(connection, { topic, topicId: null, everyMs: 50, onRemade: () => (remade += 10) });
    const looks = new TopicIdQuestion(connection, topic);
    for (let look = 0; look < 20; look += 1) expect(await looks.ask()).toBe(topicId);
    looks.close();
    expect(remade).toBe(0);
    await remake();
    await eventually(() => expect(remade).toBe(1));
    watch.close();
    other.close();
  });
});
