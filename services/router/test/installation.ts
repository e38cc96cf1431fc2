/** Topics of a test's own on the real broker, what a router reads and writes there, and routers in this process. */
import type { Codec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { createTopicNames, type TopicNames, topicCatalogue } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery";
import type { Event } from "@posthaste/core/event";
import { SILENT_LOG } from "@posthaste/core/log";
import { eventKey } from "@posthaste/core/partition-key";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connect";
import { followLog, type LogReader, type LogRecord } from "@posthaste/kafka/log-reader";
import { createProducer, type Producer } from "@posthaste/kafka/producer";
import { createOpenCodec } from "@posthaste/kafka/registry";
import { applyTopics } from "@posthaste/kafka/topic-admin";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { Registry } from "prom-client";
import { type Router, type RouterOptions, startRouter } from "../src/app.ts";
import type { UnroutedEvents } from "../src/unrouted.ts";

const PARTITIONS = 2;

export interface ReadDelivery extends Delivery {
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
}

export interface Installation {
  readonly names: TopicNames;
  readonly connection: KafkaConnection;
  /** In the order of the log, by partition. */
  readonly deliveries: readonly ReadDelivery[];
  readonly unrouted: readonly UnroutedEvents[];
  /** Writes a destination's newest state; undefined removes it. */
  readonly configure: (id: string, change: Partial<DestinationRecord> | undefined) => Promise<void>;
  readonly send: (events: readonly Event[]) => Promise<void>;
  /** Writes bytes that no schema reads to the events topic. */
  readonly sendRaw: (value: Buffer | null) => Promise<void>;
  /** Starts a router that `remove` stops, if the test has not. */
  readonly startRouter: (options?: Partial<RouterOptions>) => Promise<TestRouter>;
  readonly remove: () => Promise<void>;
}

export interface TestRouter extends Router {
  readonly registry: Registry;
  readonly failures: readonly Error[];
}

/** Makes the topics and follows what is written to those that a router writes. */
export async function createInstallation(): Promise<Installation> {
  const prefix = uniqueName("router");
  const names = createTopicNames(prefix);
  const connection = connectKafka({ brokers: kafkaBrokers(), clientId: "router-test", log: SILENT_LOG });
  await applyTopics(connection, topicCatalogue({ names, partitions: PARTITIONS, retryDelaysMs: [] }), {
    names,
    replicationFactor: 1,
    minInsyncReplicas: 1,
  });
  const openCodec = createOpenCodec({ url: schemaRegistryUrl(), names, log: SILENT_LOG });
  const eventCodec = await openCodec<Event>("event");
  const destinationCodec = await openCodec<DestinationRecord>("destination");
  const producer = await createProducer(connection, { name: "test", topics: [names.events, names.destinationConfig] });
  const deliveries: ReadDelivery[] = [];
  const unrouted: UnroutedEvents[] = [];
  const readers = [
    ...(await follow(connection, names.deliveries, await openCodec<Delivery>("delivery"), (delivery, record) =>
      deliveries.push({
        ...delivery,
        key: String(record.key),
        partition: record.partition,
        offset: record.offset,
      }),
    )),
    ...(await follow(connection, names.unrouted, await openCodec<UnroutedEvents>("unrouted-events"), (events) =>
      unrouted.push(events),
    )),
  ];
  const routers: Router[] = [];
  let revision = 0;

  return {
    names,
    connection,
    deliveries,
    unrouted,
    configure: (id, change) => {
      revision += 1;
      const value = change === undefined ? null : destinationCodec.encode({ ...destination(id, revision), ...change });
      return writeConfig(producer, names, { id, value, revision });
    },
    send: (events) =>
      producer.send(
        events.map((event) => ({
          topic: names.events,
          key: eventKey(event.sourceId, event),
          value: eventCodec.encode(event),
        })),
      ),
    sendRaw: (value) => producer.send([{ topic: names.events, key: "k", value }]),
    startRouter: async (options = {}) => {
      const registry = new Registry();
      const failures: Error[] = [];
      const router = await startRouter({
        brokers: kafkaBrokers(),
        schemaRegistryUrl: schemaRegistryUrl(),
        topicPrefix: prefix,
        log: SILENT_LOG,
        registry,
        onFailure: (reason) => failures.push(reason),
        dedupe: { limit: 1000, windowMs: 600_000 },
        ...options,
      });
      routers.push(router);
      return { ...router, registry, failures };
    },
    remove: async () => {
      await Promise.all(routers.map((router) => router.stop()));
      await Promise.all(readers.map((reader) => reader.close()));
      await producer.close();
      await connection.close();
      await deleteTopics(prefix);
    },
  };
}

async function follow<T>(
  connection: KafkaConnection,
  topic: string,
  codec: Codec<T>,
  take: (value: T, record: LogRecord) => void,
): Promise<readonly LogReader[]> {
  return Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      followLog(connection, {
        topic,
        partition,
        from: "start",
        onRecords: async (records) => {
          for (const record of records) {
            if (record.value === null) continue;
            await codec.learn(record.value);
            take(codec.decode(record.value), record);
          }
        },
        onFailure: (reason) => {
          throw reason;
        },
      }),
    ),
  );
}

interface ConfigRecord {
  readonly id: string;
  readonly value: Buffer | null;
  readonly revision: number;
}

function writeConfig(producer: Producer, names: TopicNames, { id, value, revision }: ConfigRecord): Promise<void> {
  const headers = { [REVISION_HEADER]: String(revision) };
  return producer.send([{ topic: names.destinationConfig, key: id, value, headers }]);
}

function destination(id: string, revision: number): DestinationRecord {
  return {
    id,
    revision,
    type: "Webhooks",
    name: id,
    sourceIds: ["src_1"],
    enabled: true,
    settle: "any",
    rateLimitPerSecond: null,
    standardWebhooks: false,
    activeSecret: null,
    nextSecret: null,
    previousSecret: null,
    urls: [{ url: "https://receiver.test/", headers: {} }],
    createdAtMs: 0,
    updatedAtMs: 0,
  };
}

/** A track event of `src_1` that is complete but for what `change` says. */
export function event(messageId: string, change: Partial<Event> = {}): Event {
  return {
    messageId,
    sourceId: "src_1",
    type: "track",
    userId: "u1",
    anonymousId: null,
    timestampMs: Date.parse("2020-01-02T03:04:05.678Z"),
    receivedAtMs: 1_600_000_000_000,
    integrations: {},
    event: "E",
    name: null,
    groupId: null,
    previousId: null,
    propertiesJson: "{}",
    traitsJson: null,
    contextJson: "{}",
    restJson: null,
    ...change,
  };
}
