/**
 * A client that sends to one broker: kafkajs's connection, without its producer, which copies a partition's records
 * once for each of them and every byte about seven times. What goes over the wire is the same.
 *
 * Nothing is tried again: after a rejection its owner throws the client away (P2). A broker answers the requests of one
 * connection in order, so a client has one out at a time.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaClient } from "../connection/kafka-client.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { type Broker, createBroker, type PartitionAnswer, sendProduceRequest } from "../kafkajs/kafkajs-internals.ts";
import { encodeProduceRequest, type ProduceTopic } from "../wire/produce-request.ts";
import type { BatchRecord } from "../wire/record-batch.ts";
import type { PartitionBatch, PlacedRecord } from "./partition-queue.ts";
import { makeValue } from "./record-value.ts";

/** Kafka's code. */
const INVALID_RECORD = 87;

/** A client that sends to one broker; tests give a false one. */
export interface BrokerClient {
  /** Undefined, at no cost, while it is connected. */
  connect(): Promise<void> | undefined;
  /**
   * Only while it is connected. Resolves with what every partition came to; the broker waits for its replicas at most
   * `timeoutMs`.
   */
  send(batches: readonly PartitionBatch[], timeoutMs: number): Promise<readonly PartitionAnswer[]>;
  /** Waits for outstanding answers. */
  disconnect(): Promise<void>;
  /** Destroys its sockets. */
  destroy(): void;
}

/** Connects nothing yet. */
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

/** The client of the broker that is reached at the address. */
export function brokerClientOf(client: KafkaClient, host: string, port: number): BrokerClient {
  return createBrokerClient(client, () => createBroker(client.kafka, host, port));
}

interface MadeBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly BatchRecord[];
}

/** A value that cannot be made is answered as a broker would that does not take it: for its own partition (GC5). */
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
