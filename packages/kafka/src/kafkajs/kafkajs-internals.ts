/**
 * The parts of kafkajs below its public API that this package leans on, typed as far as they are used. kafkajs is
 * pinned to one version, and `createCluster` fails at once when a part is not where it was.
 */
import { createRequire } from "node:module";
import { PosthasteError } from "@posthaste/core/errors";
import type { Kafka } from "kafkajs";
import { decodeTopicIdAnswer, encodeTopicIdRequest, type NamedTopic, TOPIC_ID_VERSION } from "./topic-id-request.ts";

/** kafkajs's picture of the cluster and its connections. Rejections are kafkajs's errors. */
export interface Cluster {
  connect(): Promise<void>;
  /** Waits for outstanding answers. */
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  /** Does nothing while the picture is younger than `METADATA_MAX_AGE_MS`. */
  refreshMetadataIfNecessary(): Promise<void>;
  /**
   * Throws before the topic's metadata was loaded; leaves out partitions that it does not know, and those without a
   * leader (LP1 of leaderless-partitions.ts).
   */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  /** Every partition of a topic whose metadata was loaded; a leader below 0 is none. */
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  findBroker(query: { readonly nodeId: string }): Promise<Broker>;
  fetchTopicsOffset(topics: readonly TopicOffsetsQuery[]): Promise<readonly TopicOffsets[]>;
}

export interface TopicOffsetsQuery {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
  /** True for the log's start, false for its end. */
  readonly fromBeginning: boolean;
}

export interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** One broker and its connections, which are opened when they are needed. */
export interface Broker {
  isConnected(): boolean;
  /** Does nothing while it is connected. */
  connect(): Promise<void>;
  /** Waits for outstanding answers. */
  disconnect(): Promise<void>;
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** The newest version of a request that the broker and the definition have. Throws when there is none. */
  lookupRequest<P>(apiKey: number, definition: RequestDefinition<P>): P;
  readonly connectionPool: {
    send(protocol: { readonly request: object; readonly response: object }): Promise<unknown>;
  };
}

/** All versions of one kind of request. */
export interface RequestDefinition<P> {
  readonly versions: readonly string[];
  protocol(version: { readonly version: number }): P;
}

/** Makes a produce request of one version, and what reads its answer. */
export type MakeProduceRequest = (settings: {
  readonly acks: number;
  readonly timeout: number;
  readonly compression: 0;
  readonly topicData: readonly [];
}) => { readonly request: { readonly apiVersion: number }; readonly response: object };

/** What a produce request came to in one partition. */
export interface PartitionAnswer {
  readonly topicName: string;
  readonly partition: number;
  /** Kafka's; 0 is none. */
  readonly errorCode: number;
}

export interface FetchRequest {
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** 0: records of open transactions too. */
  readonly isolationLevel: 0 | 1;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly fetchOffset: string;
      readonly maxBytes: number;
    }[];
  }[];
}

export interface FetchResponse {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly FetchedPartition[];
  }[];
}

export interface FetchedPartition {
  readonly partition: number;
  readonly highWatermark: string;
  readonly messages: readonly FetchedMessage[];
}

export interface FetchedMessage {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | string | (Buffer | string)[]>>;
  readonly isControlRecord: boolean;
  readonly batchContext: { readonly firstOffset: string; readonly lastOffsetDelta: number };
}

/** What makes a broker of an address; below what `Cluster` promises. */
interface BrokerMakers {
  readonly rootLogger: object;
  readonly connectionPoolBuilder: { build(address: { host: string; port: number }): Promise<object> };
  readonly brokerPool: { createBroker(parts: { connectionPool: object; logger: object }): Broker };
}

const CREATE_CLUSTER = "private:Kafka:createCluster";
const METADATA_MAX_AGE_MS = 5 * 60_000;

/** A cluster of its own for a reader without a group, for which kafkajs's public API has no call. */
export function createCluster(kafka: Kafka): Cluster {
  const create: (options: object) => Cluster = Reflect.get(kafka, symbolOfCreateCluster(kafka));
  return create({ metadataMaxAge: METADATA_MAX_AGE_MS, allowAutoTopicCreation: false });
}

function symbolOfCreateCluster(kafka: Kafka): symbol {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === CREATE_CLUSTER);
  if (symbol !== undefined && typeof Reflect.get(kafka, symbol) === "function") return symbol;
  throw new PosthasteError("internal", `this kafkajs has no ${CREATE_CLUSTER}`);
}

/**
 * Has each fetch of the consumers that are made of `kafka` from now on wait at the broker for so many ms as `waitMs`
 * answers at that moment, where kafkajs fixes the wait for good when a consumer is made.
 */
export function setFetchWait(kafka: Kafka, waitMs: () => number): void {
  const symbol = symbolOfCreateCluster(kafka);
  const create: (options: object) => Cluster = Reflect.get(kafka, symbol);
  Reflect.set(kafka, symbol, (options: object) => {
    const cluster = create(options);
    const brokers = new WeakSet<Broker>();
    const findBroker = cluster.findBroker.bind(cluster);
    cluster.findBroker = async (query) => {
      const broker = await findBroker(query);
      if (brokers.has(broker)) return broker;
      brokers.add(broker);
      const fetch = broker.fetch.bind(broker);
      broker.fetch = (request) => fetch({ ...request, maxWaitTime: waitMs() });
      return broker;
    };
    return cluster;
  });
}

/** A broker by its address alone, without a picture of its cluster. Connects nothing yet. */
export async function createBroker(kafka: Kafka, host: string, port: number): Promise<Broker> {
  const makers = createCluster(kafka) as Partial<BrokerMakers>;
  const { rootLogger, connectionPoolBuilder, brokerPool } = makers;
  if (rootLogger === undefined || connectionPoolBuilder === undefined || brokerPool === undefined) {
    throw new PosthasteError("internal", "this kafkajs makes no broker of an address");
  }
  return brokerPool.createBroker({
    connectionPool: await connectionPoolBuilder.build({ host, port }),
    logger: rootLogger,
  });
}

const PRODUCE_API_KEY = 0;
/** From here to version 7, kafkajs's last, a produce request's body is the same. */
const FIRST_PRODUCE_VERSION = 3;
const PRODUCE: RequestDefinition<MakeProduceRequest> = createRequire(import.meta.url)(
  "kafkajs/src/protocol/requests/produce/index.js",
);

/**
 * Sends a produce request whose body is made already, and waits for the in-sync replicas' answer. Every partition of
 * the answer is read: kafkajs alone throws for the first with an error, and says nothing of those that were written.
 */
export async function sendProduceRequest(broker: Broker, body: Buffer): Promise<readonly PartitionAnswer[]> {
  const makeRequest = broker.lookupRequest(PRODUCE_API_KEY, PRODUCE);
  // Only what tells the version and reads the answer is taken of it; its own body is never made.
  const { request, response } = makeRequest({ acks: -1, timeout: 0, compression: 0, topicData: [] });
  if (request.apiVersion < FIRST_PRODUCE_VERSION) {
    throw new PosthasteError("broker_unavailable", "a broker is older than Kafka 0.11, which has no record batches");
  }
  const encoded = { buf: body, buffer: body };
  const answer = await broker.connectionPool.send({
    request: { ...request, encode: async () => encoded },
    response: { ...response, parse: async (decoded: unknown) => decoded },
  });
  return toPartitionAnswers(answer as ProduceAnswer);
}

const { createErrorFromCode }: { createErrorFromCode(code: number): Error } = createRequire(import.meta.url)(
  "kafkajs/src/protocol/error.js",
);

/** kafkajs's error for a code that is not 0, to be read by `kafka-errors.ts`. */
export function errorOfCode(code: number): Error {
  return createErrorFromCode(code);
}

interface ProduceAnswer {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}

function toPartitionAnswers({ topics }: ProduceAnswer): readonly PartitionAnswer[] {
  return topics.flatMap(({ topicName, partitions }) =>
    partitions.map(({ partition, errorCode }) => ({ topicName, partition, errorCode })),
  );
}

const METADATA_API_KEY = 3;
/** kafkajs chooses the lower of the broker's newest version and this client's. */
const TOPIC_IDS: RequestDefinition<{ readonly version: number }> = {
  versions: [String(TOPIC_ID_VERSION)],
  protocol: (version) => version,
};

/** What the broker says of topics; null when it is older than Kafka 2.8, where topics have no ids. */
export async function requestTopicIds(
  broker: Broker,
  topics: readonly string[],
): Promise<readonly NamedTopic[] | null> {
  const { version } = broker.lookupRequest(METADATA_API_KEY, TOPIC_IDS);
  if (version < TOPIC_ID_VERSION) return null;
  const body = encodeTopicIdRequest(topics);
  const answer = await broker.connectionPool.send({
    request: {
      apiKey: METADATA_API_KEY,
      apiVersion: TOPIC_ID_VERSION,
      apiName: "Metadata",
      encode: async () => ({ buf: body, buffer: body }),
    },
    response: { decode: async (bytes: Buffer) => decodeTopicIdAnswer(bytes), parse: async (parsed: unknown) => parsed },
  });
  return answer as readonly NamedTopic[];
}
