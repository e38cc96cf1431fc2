/**
 * The parts of kafkajs below its public API on which this package relies, typed as far as it uses them. The package
 * pins kafkajs to one version, and `createCluster` fails at once when a part has moved.
 */
import { createRequire } from "node:module";
import { PosthasteError } from "@posthaste/core/errors";
import type { Admin, Kafka } from "kafkajs";
import { decodeTopicIdAnswer, encodeTopicIdRequest, type NamedTopic, TOPIC_ID_VERSION } from "./topic-id-request.ts";

/** kafkajs's knowledge of the cluster, and its connections. Its calls reject with kafkajs's errors. */
export interface Cluster {
  connect(): Promise<void>;
  /** Disconnects once outstanding answers have come. */
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  /** Asks for the cluster's metadata, unless kafkajs's is younger than `METADATA_MAX_AGE_MS`. */
  refreshMetadataIfNecessary(): Promise<void>;
  /** Asks for the metadata of all topics that were added. */
  refreshMetadata(): Promise<void>;
  /**
   * Throws before the topic's metadata was loaded; leaves out partitions that it does not know, and those without a
   * leader (LP1 of leaderless-partitions.ts).
   */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  /** Returns every partition of a topic whose metadata is loaded; a leader below 0 means that there is none. */
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

/** A broker and its connections, which kafkajs opens when they are needed. */
export interface Broker {
  isConnected(): boolean;
  /** Connects, unless the broker is connected. */
  connect(): Promise<void>;
  /** Disconnects once outstanding answers have come. */
  disconnect(): Promise<void>;
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** Returns the newest version of a request that the broker and the definition share. Throws when there is none. */
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

/** Makes a produce request of a version, with the function that reads its answer. */
export type MakeProduceRequest = (settings: {
  readonly acks: number;
  readonly timeout: number;
  readonly compression: 0;
  readonly topicData: readonly [];
}) => { readonly request: { readonly apiVersion: number }; readonly response: object };

/** The outcome of a produce request in a partition. */
export interface PartitionAnswer {
  readonly topicName: string;
  readonly partition: number;
  /** Kafka's error code; 0 means no error. */
  readonly errorCode: number;
}

export interface FetchRequest {
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** The isolation level; with 0 a fetch also brings records of open transactions. */
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

/** The part of kafkajs that makes a broker from an address; `Cluster` does not show it. */
interface BrokerMakers {
  readonly rootLogger: object;
  readonly connectionPoolBuilder: { build(address: { host: string; port: number }): Promise<object> };
  readonly brokerPool: { createBroker(parts: { connectionPool: object; logger: object }): Broker };
}

const CREATE_CLUSTER = "private:Kafka:createCluster";
const METADATA_MAX_AGE_MS = 5 * 60_000;

/** Makes a cluster for a reader without a group, since kafkajs's public API has no call for such a reader. */
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
 * Makes kafkajs's admin client, and returns it with the cluster that it asks, which kafkajs alone keeps to itself: the
 * admin client asks for the offsets of one topic at a time.
 */
export function createAdmin(kafka: Kafka): { readonly admin: Admin; readonly cluster: Cluster } {
  const symbol = symbolOfCreateCluster(kafka);
  const create: (options: object) => Cluster = Reflect.get(kafka, symbol);
  const made: Cluster[] = [];
  Reflect.set(kafka, symbol, (options: object) => {
    const cluster = create(options);
    made.push(cluster);
    return cluster;
  });
  try {
    const admin = kafka.admin();
    const [cluster] = made;
    if (cluster === undefined)
      throw new PosthasteError("internal", "this kafkajs makes no cluster for an admin client");
    return { admin, cluster };
  } finally {
    Reflect.set(kafka, symbol, create);
  }
}

/** What `setFetchWait` answers. */
export interface FetchWait {
  /** Ends the fetches that are out at this moment, as if they had brought nothing. */
  cut(): void;
}

/**
 * Changes how long fetches wait at the broker, for all consumers that are made from `kafka` from now on: each fetch
 * waits for as many ms as `waitMs` answers at its moment. kafkajs alone fixes the wait for good when a consumer is
 * made.
 */
export function setFetchWait(kafka: Kafka, waitMs: () => number): FetchWait {
  const out = new Set<(nothing: FetchResponse) => void>();
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
      broker.fetch = async (request) => {
        const { promise, resolve } = Promise.withResolvers<FetchResponse>();
        out.add(resolve);
        try {
          return await Promise.race([fetch({ ...request, maxWaitTime: waitMs() }), promise]);
        } finally {
          out.delete(resolve);
        }
      };
      return broker;
    };
    return cluster;
  });
  return {
    cut: () => {
      for (const resolve of out) resolve({ responses: [] });
    },
  };
}

/** Makes a broker from its address alone, without its cluster's metadata. The broker is not connected yet. */
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
/** From this version to version 7, the last that kafkajs has, the body of a produce request is the same. */
const FIRST_PRODUCE_VERSION = 3;
const PRODUCE: RequestDefinition<MakeProduceRequest> = createRequire(import.meta.url)(
  "kafkajs/src/protocol/requests/produce/index.js",
);

/**
 * Sends a produce request whose body exists already, and waits for the answer of the in-sync replicas. It reads every
 * partition of the answer, where kafkajs alone throws for the first partition with an error and hides which partitions
 * were written.
 */
export async function sendProduceRequest(broker: Broker, body: Buffer): Promise<readonly PartitionAnswer[]> {
  const makeRequest = broker.lookupRequest(PRODUCE_API_KEY, PRODUCE);
  // This function takes the version and the answer's reader from kafkajs's request, whose own body is never made.
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

/** Answers kafkajs's error for a code other than 0; `kafka-errors.ts` reads such errors. */
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

/** Asks the broker for topics and their ids. Returns null for a broker before Kafka 2.8, where topics have no ids. */
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
