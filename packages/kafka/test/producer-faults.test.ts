import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { type FaultProxy, openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaConnection } from "../src/connection/connect.ts";
import { createProducer, type Producer } from "../src/producer/producer.ts";
import { connectTest, readTopic, readValues } from "./harness.ts";

/** The list without its repeats: the values of a reader that drops repeats. */
const firsts = (values: readonly string[]) => [...new Set(values)];

describe("the producer before a real broker", () => {
  let topic: string;
  let proxy: FaultProxy;
  /** Through the proxy. */
  let connection: KafkaConnection;
  /** Past it. */
  let direct: KafkaConnection;
  let producer: Producer;

  beforeEach(async () => {
    topic = await createTopic(uniqueName("producer"), { partitions: 3 });
    proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    connection = connectTest({ route: (broker) => proxy.route(broker) });
    direct = connectTest();
    producer = await createProducer(connection, { name: "test", topics: [topic] });
  });

  afterEach(async () => {
    await producer.close();
    await connection.close();
    await direct.close();
    await proxy.close();
    await deleteTopics(topic);
  });

  const send = (value: string, partition = 0) =>
    producer.send([{ topic, key: null, value: Buffer.from(value), partition }]);

  it("writes what it acknowledges, key, value and headers", async () => {
    await producer.send([
      { topic, key: "k", value: Buffer.from("v"), headers: { a: "1" } },
      { topic, key: "k", value: null },
    ]);
    const records = await readTopic(direct, topic);
    expect(records).toMatchObject([
      { key: Buffer.from("k"), value: Buffer.from("v"), headers: { a: Buffer.from("1") } },
      { key: Buffer.from("k"), value: null, headers: {} },
    ]);
  });

  it("loses no acknowledged record and keeps order when an answer is lost and it is cut, ten times", async () => {
    await send("warm");
    const acknowledged: string[] = ["warm"];
    for (let round = 0; round < 10; round += 1) {
      proxy.loseProduceAnswers(1);
      const values = [`${round}-a`, `${round}-b`];
      await Promise.all(values.map((value) => send(value).then(() => acknowledged.push(value))));
      await send(`${round}-c`).then(() => acknowledged.push(`${round}-c`));
    }
    expect(proxy.lostAnswers).toBe(10);
    const written = await readValues(direct, topic);
    expect(firsts(written)).toEqual(acknowledged);
    // A repeat is a record of the batch whose answer was lost: two records a round at most.
    expect(written.length - acknowledged.length).toBeLessThanOrEqual(20);
  });

  it("repeats one batch at most when its answer is lost, in every partition of it", async () => {
    await send("warm");
    proxy.loseProduceAnswers(1);
    const values = Array.from({ length: 300 }, (_, index) => index);
    await producer.send(
      values.map((value) => ({ topic, key: null, value: Buffer.from(String(value)), partition: value % 3 })),
    );
    for (const partition of [0, 1, 2]) {
      const written = (await readValues(direct, topic, partition)).filter((value) => value !== "warm");
      const given = values.filter((value) => value % 3 === partition).map(String);
      // A partition whose leader was not known yet goes with the next request, whose answer comes.
      expect([given, [...given, ...given]]).toContainEqual(written);
    }
    expect(proxy.lostAnswers).toBe(1);
  });

  it("sends what is unacknowledged again before what came later, while connections are cut", async () => {
    const sent: Promise<void>[] = [];
    for (let value = 0; value < 2000; value += 1) {
      sent.push(send(String(value), value % 3));
      if (value % 200 === 100) {
        const { produceRequests } = proxy;
        proxy.cut();
        await eventually(() => expect(proxy.produceRequests).toBeGreaterThan(produceRequests));
      }
    }
    await Promise.all(sent);
    for (const partition of [0, 1, 2]) {
      const given = Array.from({ length: 2000 }, (_, value) => value).filter((value) => value % 3 === partition);
      expect(firsts(await readValues(direct, topic, partition)).map(Number)).toEqual(given);
    }
  });

  it("waits for its broker, as long as it is the only one, while it hangs", async () => {
    await send("a");
    proxy.hold();
    const settled: string[] = [];
    const waiting = send("b").then(() => settled.push("b"));
    await eventually(() => expect(producer.oldestPendingMs).toBeGreaterThan(300));
    expect(settled).toEqual([]);
    proxy.release();
    await waiting;
    expect(firsts(await readValues(direct, topic))).toEqual(["a", "b"]);
  });

  it("goes on by itself when its broker is back", async () => {
    await send("a");
    proxy.refuse();
    proxy.cut();
    const waiting = send("b");
    await eventually(() => expect(producer.oldestPendingMs).toBeGreaterThan(300));
    proxy.accept();
    await waiting;
    expect(await readValues(direct, topic)).toEqual(["a", "b"]);
  });

  it("flushes when it is closed", async () => {
    proxy.delay(30);
    const sent = Array.from({ length: 20 }, (_, index) => send(String(index)));
    await producer.close();
    await Promise.all(sent);
    expect(await readValues(direct, topic)).toHaveLength(20);
  });

  it("refuses a record that the broker refuses and sends the rest", async () => {
    const tight = await createTopic(uniqueName("producer-tight"), { settings: { "max.message.bytes": "2000" } });
    const small = await createProducer(connection, { name: "tight", topics: [tight] });
    try {
      const outcomes = await Promise.allSettled(
        [10, 5000, 10].map((bytes) => small.send([{ topic: tight, key: null, value: Buffer.alloc(bytes, "x") }])),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(outcomes[1]).toMatchObject({ reason: { code: "invalid_input" } });
      expect(await readTopic(direct, tight)).toHaveLength(2);
    } finally {
      await small.close();
      await deleteTopics(tight);
    }
  });

  it("is not made for a topic that does not exist", async () => {
    const missing = createProducer(connection, { name: "test", topics: [uniqueName("missing")] });
    await expect(missing).rejects.toMatchObject({ code: "topic_missing" });
  });

  it("takes a record of the size that its limit promises", async () => {
    await producer.send([{ topic, key: "k", value: Buffer.alloc(999_000, "x"), headers: { a: "b" } }]);
    const records = await readTopic(direct, topic);
    expect(records.map(({ value }) => value?.length)).toEqual([999_000]);
  });

  it("sends a call that is larger than a request", async () => {
    const value = Buffer.alloc(1000, "x");
    await producer.send(Array.from({ length: 5000 }, (_, index) => ({ topic, key: `k${index}`, value })));
    expect(await readTopic(direct, topic)).toHaveLength(5000);
  });
});
