import { expect, it } from "vitest";
import { type ClusterLayout, kafkaSettings, toImageEnvironment, toProperties } from "./kafka-properties.ts";

const layout = (count: number): ClusterLayout => ({
  count,
  clientAddress: (id) => `127.0.0.1:${9000 + id}`,
  controllerAddress: (id) => `127.0.0.1:${9100 + id}`,
  bindHost: "127.0.0.1",
});

it("keeps one copy of everything on a single broker", () => {
  const settings = kafkaSettings(1, layout(1), "/data");
  expect(settings).toMatchObject({
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "1",
    "log.dirs": "/data",
    "auto.create.topics.enable": "false",
  });
  expect(settings).not.toHaveProperty("broker.session.timeout.ms");
});

it("does not write to the metadata twice a second while nothing changes", () => {
  for (const count of [1, 3]) {
    expect(kafkaSettings(1, layout(count), "/data")).toMatchObject({ "metadata.max.idle.interval.ms": "5000" });
  }
});

it("P4: three brokers keep three copies, need two in sync, and notice a dead one after 3 s", () => {
  expect(kafkaSettings(2, layout(3), "/data")).toMatchObject({
    "node.id": "2",
    listeners: "PLAINTEXT://127.0.0.1:9002,CONTROLLER://127.0.0.1:9102",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:9002",
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.quorum.voters": "1@127.0.0.1:9101,2@127.0.0.1:9102,3@127.0.0.1:9103",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "replica.fetch.backoff.ms": "200",
  });
});

it("tells containers one address for each other and another for clients", () => {
  const settings = kafkaSettings(
    1,
    {
      count: 1,
      clientAddress: () => "127.0.0.1:29092",
      clientPort: 9092,
      brokerAddress: (id) => `kafka-${id}:19092`,
      controllerAddress: (id) => `kafka-${id}:9093`,
      bindHost: "0.0.0.0",
    },
    "/data",
  );
  expect(settings).toMatchObject({
    listeners: "PLAINTEXT://0.0.0.0:9092,INTERNAL://0.0.0.0:19092,CONTROLLER://0.0.0.0:9093",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:29092,INTERNAL://kafka-1:19092",
    "inter.broker.listener.name": "INTERNAL",
  });
});

it("writes settings as a properties file and as the image's environment", () => {
  const settings = { "node.id": "1", listeners: "A://b" };
  expect(toProperties(settings)).toBe("node.id=1\nlisteners=A://b\n");
  expect(toImageEnvironment(settings)).toEqual({ KAFKA_NODE_ID: "1", KAFKA_LISTENERS: "A://b" });
});
