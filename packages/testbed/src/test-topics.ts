/**
 * The project's topics under a prefix that no other test has, on the real broker, and a test's actions on them: writing
 * a service's input and reading its output.
 *
 * Owns: the topics, and a connection with its producer and its readers; `remove` ends all of it.
 */
import type { Codec, OpenCodec } from "@posthaste/contracts/codec";
import { createTopicNames, type TopicNames, type TopicSpec, topicCatalogue } from "@posthaste/contracts/topics";
import { SILENT_LOG } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followLog, type LogReader } from "@posthaste/kafka/log/log-reader";
import { createProducer, type Producer } from "@posthaste/kafka/producer/producer";
import { applyTopics } from "@posthaste/kafka/topics/topic-admin";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";

export interface TestTopics {
  /** POSTHASTE_TOPIC_PREFIX of the services under test. */
  readonly prefix: string;
  readonly names: TopicNames;
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  /** Sends to any of the topics. */
  readonly producer: Producer;
  /**
   * Hands on present and later records of a topic, in the order of each partition, until `unfollow`; tombstones are
   * left out. The values of a topic without a schema are its bytes.
   */
  readonly follow: <T>(topic: string, take: (value: T, record: IncomingRecord) => void) => Promise<void>;
  /** As `follow` of a table with a schema, by key; null for a tombstone. */
  readonly followTable: <T>(topic: string, take: (key: string, value: T | null) => void) => Promise<void>;
  /** Ends all that `follow` and `followTable` began. */
  readonly unfollow: () => Promise<void>;
  /** Call it when the services have ended. */
  readonly remove: () => Promise<void>;
}

export interface TestTopicsOptions {
  /** Of every topic that is not a table; default 2. */
  readonly partitions?: number;
  /** One retry topic each; none by default. */
  readonly retryDelaysMs?: readonly number[];
}

/**
 * Of the process's first topics, for all that follow: seventeen schemas that are registered for each test's own topics
 * cost more than the topics. A record names its schema by an id, whatever its topic is called.
 */
let sharedCodec: OpenCodec | undefined;

/** Makes every topic; `name` names their owner in the broker's own logs. */
export async function createTestTopics(
  name: string,
  { partitions = 2, retryDelaysMs = [] }: TestTopicsOptions = {},
): Promise<TestTopics> {
  const prefix = uniqueName(name);
  const names = createTopicNames(prefix);
  const catalogue = topicCatalogue({ names, partitions, retryDelaysMs });
  const connection = connectKafka({ brokers: kafkaBrokers(), clientId: prefix, log: SILENT_LOG });
  await applyTopics(connection, catalogue, { names, replicationFactor: 1, minInsyncReplicas: 1 });
  sharedCodec ??= createOpenCodec({ url: schemaRegistryUrl(), names });
  const openCodec = sharedCodec;
  const producer = await createProducer(connection, { name: "test", topics: catalogue.map((topic) => topic.name) });
  const readers: LogReader[] = [];
  const specOf = (topic: string): TopicSpec => {
    const spec = catalogue.find((each) => each.name === topic);
    if (spec === undefined) throw new Error(`${topic} is not in the catalogue`);
    return spec;
  };
  const unfollow = async (): Promise<void> => {
    await Promise.all(readers.splice(0).map((reader) => reader.close()));
  };
  return {
    prefix,
    names,
    connection,
    openCodec,
    producer,
    follow: async <T>(topic: string, take: (value: T, record: IncomingRecord) => void) => {
      const decoded = (value: T | null, record: IncomingRecord): void => {
        if (value !== null) take(value, record);
      };
      readers.push(...(await followTopic(connection, openCodec, { spec: specOf(topic), take: decoded })));
    },
    followTable: async <T>(topic: string, take: (key: string, value: T | null) => void) => {
      const byKey = (value: T | null, { key }: IncomingRecord) => take(String(key), value);
      readers.push(...(await followTopic(connection, openCodec, { spec: specOf(topic), take: byKey })));
    },
    unfollow,
    remove: async () => {
      await unfollow();
      await producer.close();
      await connection.close();
      await deleteTopics(prefix);
    },
  };
}

/** For a topic without a schema. */
const BYTES: Codec<unknown> = {
  encode: () => {
    throw new Error("nothing is encoded here");
  },
  decode: (bytes) => bytes,
  prefetch: () => undefined,
};

interface Following<T> {
  readonly spec: TopicSpec;
  /** A tombstone's value is null. */
  readonly take: (value: T | null, record: IncomingRecord) => void;
}

async function followTopic<T>(
  connection: KafkaConnection,
  openCodec: OpenCodec,
  { spec, take }: Following<T>,
): Promise<readonly LogReader[]> {
  const { name: topic, schema, partitions } = spec;
  const codec = schema === null ? BYTES : await openCodec<T>(schema);
  const followPartition = (partition: number) =>
    followLog(connection, {
      topic,
      partition,
      from: "start",
      onRecords: async (records) => {
        for (const record of records) {
          if (record.value !== null) await codec.prefetch(record.value);
          // The caller knows which topics have a schema.
          take(record.value === null ? null : (codec.decode(record.value) as T), record);
        }
      },
      // Uncaught, so that the run of the test fails.
      onFailure: (reason) => {
        throw reason;
      },
    });
  return Promise.all(Array.from({ length: partitions }, (_, partition) => followPartition(partition)));
}
