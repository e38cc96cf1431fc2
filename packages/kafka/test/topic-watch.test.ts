import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { readTopicId, readTopicIds, TopicIdQuestion, type TopicIds } from "../src/connection/topic-id.ts";
import { TopicWatch } from "../src/connection/topic-watch.ts";
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
  it("is read of several at once, and missing where one does not exist", async () => {
    const other = await createTopic(uniqueName("other"));
    const ids = await readTopicIds(connection, [topic, other]);
    expect(ids.get(topic)).toBe(await readTopicId(connection, topic));
    expect(ids.get(other)).toBe(await readTopicId(connection, other));
    await deleteTopics(other);
    await expect(readTopicIds(connection, [topic, other], { missingPatienceMs: 100 })).rejects.toMatchObject({
      code: "topic_missing",
    });
  });

  it("stays while the topic does, and is another for one that was recreated", async () => {
    const first = await readTopicId(connection, topic);
    expect(first).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(await readTopicId(connection, topic)).toBe(first);
    await remake();
    const second = await readTopicId(connection, topic);
    expect(second).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(second).not.toBe(first);
  });

  it("is asked for on a new connection when the old one was cut, and is missing for no topic", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    const through = connectTest({ route: (broker) => proxy.route(broker) });
    const question = new TopicIdQuestion(through, [topic]);
    const first = await question.ask();
    proxy.cut();
    await eventually(async () => expect(await question.ask()).toEqual(first));
    await deleteTopics(topic);
    await eventually(async () => expect(await question.ask()).toEqual(new Map()));
    // On a new connection the topic's own leader is looked for.
    question.close();
    await expect(question.ask()).rejects.toMatchObject({ code: "topic_missing" });
    question.close();
    await through.close();
    await proxy.close();
  });
});

describe("a watch of topics", () => {
  it("tells once that one was recreated, and nothing before", async () => {
    const other = await createTopic(uniqueName("other"));
    const remade: string[] = [];
    const topicIds = await readTopicIds(connection, [other, topic]);
    const watchOf = (ids: TopicIds, onRemade: (topic: string) => void) =>
      new TopicWatch(connection, { topicIds: ids, everyMs: 50, onRemade });
    const watch = watchOf(topicIds, (name) => remade.push(name));
    const idle = watchOf(new Map([[topic, null]]), () => remade.push("where topics have no ids"));
    const looks = new TopicIdQuestion(connection, [topic, other]);
    for (let look = 0; look < 20; look += 1) expect(await looks.ask()).toEqual(topicIds);
    looks.close();
    expect(remade).toEqual([]);
    // One that is missing says nothing, and does not hide the other.
    await deleteTopics(other);
    await remake();
    await eventually(() => expect(remade).toEqual([topic]));
    watch.close();
    idle.close();
  });

  it("gives whoever asks an answer from after they asked, also while it looks", async () => {
    const remade: string[] = [];
    const topicIds = await readTopicIds(connection, [topic]);
    const watch = new TopicWatch(connection, { topicIds, everyMs: 60_000, onRemade: (name) => remade.push(name) });
    await remake();
    await eventually(async () => expect(await readTopicIds(connection, [topic])).not.toEqual(topicIds));
    const first = watch.look();
    await watch.look();
    expect(remade).toEqual([topic]);
    await first;
    watch.close();
  });
});
