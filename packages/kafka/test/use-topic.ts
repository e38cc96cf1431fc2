/** A topic of a test, and its producer. */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { type FaultProxy, openFaultProxy } from "@posthaste/testkit/fault-proxy";
import { createTopic, deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { afterEach, beforeEach } from "vitest";
import type { KafkaConnection, KafkaConnectionOptions } from "../src/connection/connect.ts";
import { createProducer, type Producer } from "../src/producer/producer.ts";
import { connectTest } from "./harness.ts";

export interface ProxiedConnection {
  readonly proxy: FaultProxy;
  readonly through: KafkaConnection;
}

/** The topic of the running test. */
export let topic: string;
export let connection: KafkaConnection;
export let producer: Producer;

/** Called in reverse order when the test has ended: a test adds a closer for each resource that it opens. */
export const closing: (() => Promise<void>)[] = [];

/** To be called at the top of a test file: each of its tests has a topic of its own. */
export function useTopic(subject: string, options: Parameters<typeof createTopic>[1] = {}): void {
  beforeEach(async () => {
    topic = await createTopic(uniqueName(subject), options);
    connection = connectTest();
    producer = await createProducer(connection, { name: "test", topics: [topic] });
    closing.push(
      () => deleteTopics(topic),
      () => connection.close(),
      () => producer.close(),
    );
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
}

/** A connection of its own, whose way to the first broker a test cuts or holds. */
export async function connectThroughProxy(options: Partial<KafkaConnectionOptions> = {}): Promise<ProxiedConnection> {
  const proxy = await openFaultProxy(kafkaBrokers()[0] ?? "");
  const through = connectTest({ ...options, route: (broker) => proxy.route(broker) });
  closing.push(
    () => proxy.close(),
    () => through.close(),
  );
  return { proxy, through };
}

/** Writes a revision of a key, null to remove it. */
export function writeRevision(key: string, value: string | null, revision: number): Promise<void> {
  const bytes = value === null ? null : Buffer.from(value);
  return producer.send([{ topic, key, value: bytes, headers: { [REVISION_HEADER]: String(revision) } }]);
}
