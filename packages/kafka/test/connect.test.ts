import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Log } from "@posthaste/core/log";
import { SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { connectKafka } from "../src/connection/connect.ts";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import { createTable } from "../src/log/table.ts";
import { createProducer } from "../src/producer/producer.ts";
import { connectTest, readValues } from "./harness.ts";

describe("the connection", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** A broker that accepts connections and never answers. */
  async function startHungBroker(): Promise<string> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("L1: sends, reads and asks past a broker of its list that hangs from the start", async () => {
    const hung = await startHungBroker();
    const lines: unknown[] = [];
    const log: Log = { ...SILENT_LOG, warn: (fields) => lines.push(fields) };
    const registry = new Registry();
    const brokers = [hung, ...kafkaBrokers()];
    const connection = connectKafka({ brokers, clientId: "test", log, metrics: createKafkaMetrics(registry) });
    closing.push(() => connection.close());
    const topic = await createTopic(uniqueName("hung"));
    closing.push(() => deleteTopics(topic));

    const producer = await createProducer(connection, { name: "test", topics: [topic] });
    closing.push(() => producer.close());
    await producer.send([{ topic, key: "k", value: Buffer.from("v") }]);
    const table = await createTable(connection, { topic, decode: String });
    closing.push(() => table.close());
    await table.caughtUp();
    expect(table.get("k")).toBe("v");

    await eventually(() => expect(connection.unresponsiveBrokers()).toEqual([hung]));
    expect(connection.answeringBrokers()).toEqual(kafkaBrokers());
    expect(lines).toContainEqual({ event: "broker_unresponsive", broker: hung });
    expect(await registry.metrics()).toContain(`posthaste_broker_unresponsive{broker="${hung}"} 1`);
    expect(await registry.metrics()).toContain(`posthaste_broker_unresponsive{broker="${kafkaBrokers()[0]}"} 0`);
  });

  it("answers what is asked after its connections were cut", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    const connection = connectTest({ route: (broker) => proxy.route(broker) });
    closing.push(
      () => proxy.close(),
      () => connection.close(),
    );
    for (let round = 0; round < 3; round += 1) {
      expect(await connection.withAdmin((admin) => admin.listTopics())).toBeInstanceOf(Array);
      proxy.cut();
    }
  });

  it("says that no broker answered, and that asking again may help", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    proxy.refuse();
    const connection = connectTest({ route: (broker) => proxy.route(broker), adminPatienceMs: 300 });
    closing.push(
      () => proxy.close(),
      () => connection.close(),
    );
    const asked = connection.withAdmin((admin) => admin.listTopics());
    await expect(asked).rejects.toMatchObject({
      code: "broker_unavailable",
      retryable: true,
      message: "asking KAFKA_BROKERS: no broker answered",
    });
    expect(connection.answeringBrokers()).toEqual([]);
  });

  it("names the setting in the log when no broker answers from the start, whatever was asked of them", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    proxy.refuse();
    const lines: unknown[] = [];
    const log: Log = { ...SILENT_LOG, warn: (fields, message) => lines.push([fields, message]) };
    const connection = connectTest({ route: (broker) => proxy.route(broker), log });
    closing.push(
      () => proxy.close(),
      () => connection.close(),
    );
    const fields = { event: "brokers_unreachable", brokers: kafkaBrokers() };
    await eventually(() => expect(lines).toEqual([[fields, expect.stringContaining("KAFKA_BROKERS")]]));
  });

  it("makes a producer once brokers that start later are there", async () => {
    const topic = await createTopic(uniqueName("late"));
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    proxy.refuse();
    const lines: unknown[] = [];
    const log: Log = { ...SILENT_LOG, warn: (fields) => lines.push(fields) };
    const connection = connectTest({ route: (broker) => proxy.route(broker), log, adminPatienceMs: 100 });
    closing.push(
      () => deleteTopics(topic),
      () => proxy.close(),
      () => connection.close(),
    );
    const made = createProducer(connection, { name: "test", topics: [topic] });
    await eventually(() => expect(lines).toContainEqual(expect.objectContaining({ event: "brokers_unreachable" })));
    proxy.accept();
    const producer = await made;
    closing.push(() => producer.close());
    await producer.send([{ topic, key: null, value: Buffer.from("v") }]);
    expect(await readValues(connection, topic)).toEqual(["v"]);
  });

  it("destroys a client's sockets at once, and it opens no others", async () => {
    const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
    const connection = connectTest({ route: (broker) => proxy.route(broker) });
    closing.push(
      () => proxy.close(),
      () => connection.close(),
    );
    await eventually(() => expect(proxy.connections).toBe(1));
    const client = connection.createClient();
    const admin = client.kafka.admin();
    await admin.connect();
    expect(proxy.connections).toBeGreaterThan(1);
    client.destroy();
    await expect(admin.listTopics()).rejects.toThrow();
    // Only the watch's own connection is left.
    await eventually(() => expect(proxy.connections).toBe(1));
  });

  it("ends a destroyed client's search for a broker, which kafkajs would go on with", async () => {
    const tries: unknown[] = [];
    const connection = connectTest({
      brokers: ["127.0.0.1:1"],
      log: { ...SILENT_LOG, debug: (fields) => tries.push(fields) },
    });
    closing.push(() => connection.close());
    const client = connection.createClient({ retry: { initialRetryTime: 10, maxRetryTime: 20, retries: 1_000_000 } });
    const ended = expect(client.kafka.admin().connect()).rejects.toThrow(/brokers array is empty/);
    await eventually(() => expect(tries.length).toBeGreaterThan(2));
    client.destroy();
    await ended;
  });

  it("is closed for good", async () => {
    const connection = connectTest();
    await connection.close();
    await expect(connection.withAdmin((admin) => admin.listTopics())).rejects.toMatchObject({ code: "closed" });
  });
});
