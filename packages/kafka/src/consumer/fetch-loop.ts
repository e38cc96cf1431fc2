/**
 * kafkajs's consumer of a group, as the windowed consumer uses it: it subscribes, joins, fetches, and passes the
 * fetched records on.
 *
 * Owns: one kafkajs client and its one consumer. It decides nothing: its hooks decide the effect of a JOIN or a fetch.
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
  /** kafkajs joined the group, and the group assigned these partitions. */
  readonly onJoined: (assigned: Assigned) => void;
  /** A fetch brought records. The hook returns false to refuse them: kafkajs then fetches them again. */
  readonly onFetched: (place: TopicPartition, batch: FetchedBatch) => boolean;
  /** A fetch brought offsets without records. kafkajs moves on over them without calling its batch handler. */
  readonly onEmptyFetch: (place: TopicPartition, firstOffset: number, lastOffset: number) => void;
  /** kafkajs's consumer crashed. */
  readonly onCrash: (reason: Error) => void;
}

/** How many partitions' batches kafkajs hands over at the same time. */
const CONCURRENT_PARTITIONS = 16;

export class FetchLoop {
  readonly #options: FetchLoopOptions;
  readonly #client: KafkaClient;
  readonly #consumer: Consumer;
  readonly #fetchWait: FetchWait;

  /** Makes client and consumer; `connect` connects them. */
  constructor(options: FetchLoopOptions) {
    this.#options = options;
    this.#client = options.connection.createClient({ retry: CLIENT_RETRY });
    this.#fetchWait = setFetchWait(this.#client.kafka, options.fetchWaitMs);
    this.#consumer = this.#createConsumer();
  }

  /**
   * Connects and subscribes. Repeats both while no broker answers, since a service may start before its brokers.
   * Resolves as soon as `isWanted` is false, even after an error: a stop destroys the client, whose connect then fails.
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

  /** Joins the group, and fetches until `disconnect`. Resolves once the group was joined. */
  async run(): Promise<void> {
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_PARTITIONS,
      eachBatch: (payload) => this.#onBatch(payload),
    });
  }

  /** Controls the fetching of one assigned partition. */
  fetchOf({ topic, partition }: TopicPartition): PartitionFetch {
    const here = [{ topic, partitions: [partition] }];
    return {
      pause: () => this.#consumer.pause(here),
      resume: () => this.#consumer.resume(here),
      seek: (offset) => this.#consumer.seek({ topic, partition, offset: String(offset) }),
    };
  }

  /**
   * Leaves the group. Resolves when the brokers know; they may take any time, but a fetch that waits for records is
   * cut.
   */
  disconnect(): Promise<void> {
    // When this call returns kafkajs has told its fetchers to stop, and waits for the fetches that are out.
    const disconnected = this.#consumer.disconnect();
    this.#fetchWait.cut();
    return disconnected;
  }

  /** Destroys the sockets. kafkajs's loops, which `disconnect` told to stop, then end by themselves. */
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
    // The consumer has left the group: only the answer of the last fetch is still to come, and nobody needs it.
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

/** The offset that the fetch asked for. kafkajs's batches have it; its types leave it out. */
function fetchedFrom(batch: object): number {
  return Number((batch as { readonly fetchedOffset?: unknown }).fetchedOffset);
}
