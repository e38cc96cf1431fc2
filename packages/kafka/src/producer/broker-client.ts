/**
 * A client that sends to one broker. It uses kafkajs's connection without kafkajs's producer, which copies a
 * partition's records once for each of them and every byte about seven times. The bytes on the wire are the same.
 *
 * The client repeats nothing: after a rejection its owner throws it away (P2). A broker answers the requests of one
 * connection in order, so the client has one request out at a time.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaClient } from "../connection/kafka-client.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { type Broker, createBroker, type PartitionAnswer, sendProduceRequest } from "../kafkajs/kafkajs-internals.ts";
import { encodeProduceRequest, type ProduceTopic } from "../wire/produce-request.ts";
import type { BatchRecord } from "../wire/record-batch.ts";
import type { PartitionBatch, PlacedRecord } from "./partition-queue.ts";
import { makeValue } from "./record-value.ts";

/** Kafka's error code for a record that no broker takes. */
const INVALID_RECORD = 87;

/** A client that sends to one broker. Tests use a fake one. */
export interface BrokerClient {
  /** Connects; returns undefined while the client is connected. */
  connect(): Promise<void> | undefined;
  /**
   * Sends the batches, of which the client must be connected. Resolves with the answer for each partition. The broker
   * waits at most `timeoutMs` for its in-sync replicas.
   */
  send(batches: readonly PartitionBatch[], timeoutMs: number): Promise<readonly PartitionAnswer[]>;
  /** Disconnects once outstanding answers have come. */
  disconnect(): Promise<void>;
  /** Destroys the client's sockets. */
  destroy(): void;
}

/** Makes a client, which connects at `connect`. */
export function createBrokerClient(
  client: KafkaClient,
  makeBroker: () => Promise<Broker>,
  nowMs: () => number = SYSTEM_CLOCK.nowMs,
): BrokerClient {
  return new KafkajsBrokerClient(client, makeBroker, nowMs);
}

class KafkajsBrokerClient implements BrokerClient {
  readonly #client: KafkaClient;
  readonly #makeBroker: () => Promise<Broker>;
  readonly #nowMs: () => number;
  #broker: Broker | null = null;

  constructor(client: KafkaClient, makeBroker: () => Promise<Broker>, nowMs: () => number) {
    this.#client = client;
    this.#makeBroker = makeBroker;
    this.#nowMs = nowMs;
  }

  connect(): Promise<void> | undefined {
    return this.#broker?.isConnected() ? undefined : this.#open();
  }

  async send(batches: readonly PartitionBatch[], timeoutMs: number): Promise<readonly PartitionAnswer[]> {
    if (this.#broker === null) throw new PosthasteError("closed", "a client that was never connected sends nothing");
    const made = batches.map(makeRecords);
    const unmade = made.flatMap((each) => ("errorCode" in each ? [each] : []));
    const topics = byTopic(made.flatMap((each) => ("records" in each ? [each] : [])));
    if (topics.length === 0) return unmade;
    const request = encodeProduceRequest({ topics, timeoutMs, nowMs: this.#nowMs() });
    const answers = await sendProduceRequest(this.#broker, request);
    return unmade.length === 0 ? answers : [...answers, ...unmade];
  }

  async disconnect(): Promise<void> {
    await this.#broker?.disconnect();
  }

  destroy(): void {
    this.#client.destroy();
  }

  async #open(): Promise<void> {
    this.#broker ??= await this.#makeBroker();
    await this.#broker.connect();
  }
}

/** A client of the broker at this address. */
export function brokerClientOf(client: KafkaClient, host: string, port: number): BrokerClient {
  return createBrokerClient(client, () => createBroker(client.kafka, host, port));
}

interface MadeBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly BatchRecord[];
}

/**
 * Makes the records of a batch. When a value cannot be made, the batch gets the answer that a broker gives to a record
 * that it refuses, and the other partitions are sent (GC5 of partition-queue.ts).
 */
function makeRecords({ topic, partition, records }: PartitionBatch): MadeBatch | PartitionAnswer {
  try {
    return { topic, partition, records: records.map(makeRecord) };
  } catch {
    return { topicName: topic, partition, errorCode: INVALID_RECORD };
  }
}

function makeRecord({ key, value, headers }: PlacedRecord): BatchRecord {
  return { key, value: makeValue(value), ...(headers ? { headers } : {}) };
}

function byTopic(batches: readonly MadeBatch[]): readonly ProduceTopic[] {
  const topics = new Map<string, Map<number, readonly BatchRecord[]>>();
  for (const { topic, partition, records } of batches) {
    const partitions = topics.get(topic);
    if (partitions) partitions.set(partition, records);
    else topics.set(topic, new Map([[partition, records]]));
  }
  return Array.from(topics, ([topic, partitions]) => ({ topic, partitions }));
}
