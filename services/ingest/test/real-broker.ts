/** The whole service against the real broker and registry, with topics of its own, and what stands in them. */
import { createTopicNames, type TopicNames, topicCatalogue } from "@posthaste/contracts/topics";
import type { Event } from "@posthaste/core/event";
import { SILENT_LOG } from "@posthaste/core/log";
import type { Source } from "@posthaste/core/source";
import { connectKafka } from "@posthaste/kafka/connect";
import { followLog } from "@posthaste/kafka/log-reader";
import { createProducer } from "@posthaste/kafka/producer";
import { createOpenCodec } from "@posthaste/kafka/registry";
import { applyTopics } from "@posthaste/kafka/topic-admin";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";
import { Registry } from "prom-client";
import { type Ingest, startIngest } from "../src/app.ts";
import type { RejectedCalls } from "../src/rejected-calls.ts";
import { SOURCE } from "./test-gateway.ts";

const PARTITIONS = 3;

export interface RealIngest extends Ingest {
  readonly names: TopicNames;
  /** Every event that stands in the topic so far, by partition in order. */
  readonly events: readonly Event[];
  readonly rejected: readonly RejectedCalls[];
  /** Resolves when the brokers have the source; the service may not have read it yet. */
  saveSource(source: Source): Promise<void>;
}

/** Starts it with `SOURCE` configured; `stop` deletes the topics too. */
export async function startRealIngest(): Promise<RealIngest> {
  const brokers = kafkaBrokers();
  const prefix = uniqueName("ingest");
  const names = createTopicNames(prefix);
  const connection = connectKafka({ brokers, clientId: prefix, log: SILENT_LOG });
  const catalogue = topicCatalogue({ names, partitions: PARTITIONS, retryDelaysMs: [] });
  await applyTopics(connection, catalogue, { names, replicationFactor: 1, minInsyncReplicas: 1 });
  const openCodec = createOpenCodec({ url: schemaRegistryUrl(), names });
  const sourceCodec = await openCodec<Source>("source");
  const producer = await createProducer(connection, { name: "test", topics: [names.sourceConfig] });
  const saveSource = (source: Source) =>
    producer.send([
      {
        topic: names.sourceConfig,
        key: source.id,
        value: sourceCodec.encode(source),
        headers: { revision: String(source.revision) },
      },
    ]);
  await saveSource(SOURCE);

  const ingest = await startIngest({
    brokers,
    schemaRegistryUrl: schemaRegistryUrl(),
    topicPrefix: prefix,
    host: "127.0.0.1",
    port: 0,
    trustedProxies: [],
    callsPerSecond: 1_000_000,
    maxPendingBytes: 64_000_000,
    log: SILENT_LOG,
    registry: new Registry(),
  });

  const events: Event[] = [];
  const rejected: RejectedCalls[] = [];
  const eventCodec = await openCodec<Event>("event");
  const rejectedCodec = await openCodec<RejectedCalls>("rejected-calls");
  const follow = (topic: string, partition: number, take: (value: Buffer) => void) =>
    followLog(connection, {
      topic,
      partition,
      from: "start",
      onRecords: (records) => {
        for (const { value } of records) if (value !== null) take(value);
      },
      onFailure: (reason) => {
        throw reason;
      },
    });
  const readers = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) => [
      follow(names.events, partition, (value) => events.push(eventCodec.decode(value))),
      follow(names.rejectedCalls, partition, (value) => rejected.push(rejectedCodec.decode(value))),
    ]).flat(),
  );

  return {
    ...ingest,
    names,
    events,
    rejected,
    saveSource,
    stop: async () => {
      await ingest.stop();
      await Promise.all(readers.map((reader) => reader.close()));
      await producer.close();
      await connection.close();
      await deleteTopics(prefix);
    },
  };
}
