/**
 * The requests of a process's readers without a group to the model's brokers: fetches, ends of partitions, topics' ids.
 *
 * Owns: the moment before which readers get nothing, so that tables lag.
 */
import { type LogRecord, type ModelLog, topicIdOf } from "./model-log.ts";
import type { Network } from "./network.ts";
import type { World } from "./world.ts";

export interface ReaderRequestsOptions {
  readonly world: World;
  readonly log: ModelLog;
  readonly network: Network;
}

const READER_WAIT_MS = 2000;
/** Metadata as of Kafka 2.8. */
const TOPIC_ID_VERSION = 10;

export class ReaderRequests {
  readonly #options: ReaderRequestsOptions;
  #heldUntilMs = 0;

  constructor(options: ReaderRequestsOptions) {
    this.#options = options;
  }

  /** Readers get nothing for so long. */
  hold(forMs: number): void {
    this.#heldUntilMs = this.#options.world.nowMs + forMs;
  }

  /** Faults stop. */
  mend(): void {
    this.#heldUntilMs = 0;
  }

  /** As kafkajs has its private one. */
  createCluster(isGone: () => boolean): object {
    const { log } = this.#options;
    return {
      connect: () => this.#ask(() => undefined, isGone),
      disconnect: async () => undefined,
      addTargetTopic: async () => undefined,
      findLeaderForPartitions: (_: string, partitions: readonly number[]) => ({ "1": partitions }),
      findTopicPartitionMetadata: (topic: string) =>
        log.partitionsOf(topic).map(({ partition }) => ({ partitionId: partition, leader: 1 })),
      findBroker: async () => ({
        fetch: (request: FetchRequest) => this.#fetch(request, isGone),
        lookupRequest: (_: number, { protocol }: TopicIdsDefinition) => protocol({ version: TOPIC_ID_VERSION }),
        // Asked for topics' ids and for nothing else.
        connectionPool: { send: () => this.#ask(() => log.topics.map(toNamedTopic), isGone) },
      }),
      fetchTopicsOffset: (queries: readonly OffsetsQuery[]) =>
        this.#ask(
          () =>
            queries.map(({ topic, partitions, fromBeginning }) => ({
              topic,
              partitions: partitions.map(({ partition }) => ({
                partition,
                offset: String(fromBeginning ? 0 : log.partition(topic, partition).end),
              })),
            })),
          isGone,
        ),
    };
  }

  /** A fetch without a group: answered when there is something, or after a while without. */
  #fetch({ topics }: FetchRequest, isGone: () => boolean): Promise<object> {
    const [asked] = topics;
    const [place] = asked?.partitions ?? [];
    if (asked === undefined || place === undefined) throw new Error("a reader asks for one partition");
    const { world, log, network } = this.#options;
    const partition = log.partition(asked.topic, place.partition);
    const from = Number(place.fetchOffset);
    const toAnswer = () => ({
      responses: [
        {
          topicName: asked.topic,
          partitions: [
            {
              partition: place.partition,
              highWatermark: String(partition.end),
              messages: partition.from(from, 100).map(toReaderMessage),
            },
          ],
        },
      ],
    });
    return network.ask<object>(({ resolve }) => {
      const isHeld = () => world.nowMs < this.#heldUntilMs;
      const answerIfAny = () => {
        if (isHeld() || partition.end <= from) return;
        stop();
        resolve(toAnswer());
      };
      const stop = log.onAppend((grown) => {
        if (grown === partition) answerIfAny();
      });
      const heldMs = Math.max(0, this.#heldUntilMs - world.nowMs);
      if (heldMs > 0) world.after(heldMs, null, answerIfAny);
      world.after(heldMs + READER_WAIT_MS, null, () => {
        stop();
        resolve(toAnswer());
      });
      answerIfAny();
    }, isGone);
  }

  #ask<R>(serve: () => R, isGone: () => boolean): Promise<R> {
    return this.#options.network.ask<R>((answer) => answer.resolve(serve()), isGone);
  }
}

interface TopicIdsDefinition {
  protocol(asked: { readonly version: number }): unknown;
}

interface FetchRequest {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

interface OffsetsQuery {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
  readonly fromBeginning: boolean;
}

function toNamedTopic(name: string): object {
  return { name, errorCode: 0, topicId: topicIdOf(name) };
}

function toReaderMessage({ offset, timestampMs, key, value, headers }: LogRecord): object {
  const batchContext = { firstOffset: String(offset), lastOffsetDelta: 0 };
  const isControlRecord = false;
  return { offset: String(offset), timestamp: String(timestampMs), key, value, headers, isControlRecord, batchContext };
}
