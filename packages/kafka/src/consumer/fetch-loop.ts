/**
 * kafkajs's consumer of a group, as the windowed consumer uses it: it subscribes, joins, fetches, and says what it
 * fetched.
 *
 * Owns: one kafkajs client and the one consumer of it. It decides nothing: what a JOIN or a fetch means is told by its
 * hooks.
 */
import type { Consumer, EachBatchPayload, PartitionAssigner } from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs } from "../connection/deadline.ts";
import type { KafkaClient } from "../connection/kafka-client.ts";
import { isPassingFailure, toPosthasteError } from "../connection/kafka-errors.ts";
import { type FetchWait, setFetchWait } from "../kafkajs/kafkajs-internals.ts";
import { CLIENT_RETRY, consumerSettings } from "./consumer-settings.ts";
import type { PartitionFetch } from "./fetch-position.ts";
import type { FetchedBatch } from "./fetched-backlog.ts";
import type { Assigned, TopicPartition } from "./rebalance.ts";
import type { ConsumerTiming, WindowedConsumerOptions } from "./windowed-consumer.ts";

export interface FetchLoopOptions {
  readonly connection: KafkaConnection;
  readonly consumer: Pick<WindowedConsumerOptions<never>, "groupId" | "topics" | "delayMsOf">;
  readonly timing: ConsumerTiming;
  readonly assigner: PartitionAssigner;
  /** How long a fetch that begins now waits at the broker for records, in ms. */
  readonly fetchWaitMs: () => number;
  /** The group was joined, with these partitions. */
  readonly onJoined: (assigned: Assigned) => void;
  /** A fetch brought records. Answers false when they were refused: kafkajs then fetches them again. */
  readonly onFetched: (place: TopicPartition, batch: FetchedBatch) => boolean;
  /**
   * A fetch brought offsets that hold no record, which never come to the batch handler: kafkajs goes on behind them.
   */
  readonly onEmptyFetch: (place: TopicPartition, firstOffset: number, lastOffset: number) => void;
  /** kafkajs gave up. */
  readonly onCrash: (reason: Error) => void;
}

/** Partitions whose batches kafkajs hands over at the same time. */
const CONCURRENT_PARTITIONS = 16;

export class FetchLoop {
  readonly #options: FetchLoopOptions;
  readonly #client: KafkaClient;
  readonly #consumer: Consumer;
  readonly #fetchWait: FetchWait;

  /** Connects nothing. */
  constructor(options: FetchLoopOptions) {
    this.#options = options;
    this.#client = options.connection.createClient({ retry: CLIENT_RETRY });
    this.#fetchWait = setFetchWait(this.#client.kafka, options.fetchWaitMs);
    this.#consumer = this.#createConsumer();
  }

  /**
   * Connects and subscribes; tries again while no broker answers, since a service may be started before its brokers.
   * Resolves early when `isWanted` says that nobody waits for it any more, whatever the attempt then comes to: the
   * client that is destroyed by a stop finds no broker.
   */
  async connect(isWanted: () => boolean): Promise<void> {
    const { groupId, topics } = this.#options.consumer;
    for (let failures = 1; isWanted(); failures += 1) {
      try {
        await this.#consumer.connect();
        await this.#consumer.subscribe({ topics: [...topics], fromBeginning: true });
        return;
      } catch (error) {
        if (!isWanted()) return;
        if (!isPassingFailure(error)) throw toPosthasteError(error, `group ${groupId}`);
        await pause(retryPauseMs(failures));
      }
    }
  }

  /** Joins the group and fetches, until `disconnect`. */
  async run(): Promise<void> {
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_PARTITIONS,
      eachBatch: (payload) => this.#onBatch(payload),
    });
  }

  /** The fetching of one partition of the assignment. */
  fetchOf({ topic, partition }: TopicPartition): PartitionFetch {
    const here = [{ topic, partitions: [partition] }];
    return {
      pause: () => this.#consumer.pause(here),
      resume: () => this.#consumer.resume(here),
      seek: (offset) => this.#consumer.seek({ topic, partition, offset: String(offset) }),
    };
  }

  /**
   * Leaves the group. Resolves when the brokers know; waits for them for as long as they take, but not for records that
   * a fetch waits for.
   */
  disconnect(): Promise<void> {
    // kafkajs has told its fetchers to stop when this call returns, and waits for the fetches that are out.
    const disconnected = this.#consumer.disconnect();
    this.#fetchWait.cut();
    return disconnected;
  }

  /** Destroys the sockets: kafkajs's loops end by themselves once they were told to and have none. */
  destroy(): void {
    this.#client.destroy();
  }

  #createConsumer(): Consumer {
    const { consumer: terms, timing, assigner, onJoined, onEmptyFetch, onCrash } = this.#options;
    const settings = consumerSettings(terms, timing);
    const consumer = this.#client.kafka.consumer({ ...settings, partitionAssigners: [assigner] });
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => onJoined(payload.memberAssignment));
    consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
      const { batchSize, firstOffset, lastOffset } = payload;
      if (batchSize === 0) onEmptyFetch(payload, Number(firstOffset), Number(lastOffset));
    });
    // It has left the group; a broker's answer to the last fetch is all that is to come.
    consumer.on(consumer.events.STOP, () => this.#client.destroy());
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      onCrash(toPosthasteError(payload.error, `the consumer of group ${terms.groupId} crashed`));
    });
    return consumer;
  }

  async #onBatch({ batch, resolveOffset }: EachBatchPayload): Promise<void> {
    const isTaken = this.#options.onFetched(batch, {
      messages: batch.messages,
      fetchedFrom: fetchedFrom(batch),
      lastOffset: Number(batch.lastOffset()),
      endOffset: Number(batch.highWatermark),
    });
    if (isTaken) resolveOffset(batch.lastOffset());
  }
}

/** kafkajs's types leave out what its batches know: the offset that was asked for. */
function fetchedFrom(batch: object): number {
  return Number((batch as { readonly fetchedOffset?: unknown }).fetchedOffset);
}
