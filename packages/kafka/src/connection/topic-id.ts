/**
 * Kafka's own id of a topic. It changes each time that the topic is made, so it tells a topic that was recreated from
 * the earlier topic of that name.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import { type Broker, createCluster, errorOfCode, requestTopicIds } from "../kafkajs/kafkajs-internals.ts";
import type { KafkaConnection } from "./connect.ts";
import { pause, retryPauseMs, withDeadline } from "./deadline.ts";
import type { KafkaClient } from "./kafka-client.ts";
import { toPosthasteError } from "./kafka-errors.ts";
import { rotate } from "./seed-brokers.ts";
import { ADMIN_PATIENCE_MS } from "./shared-admin.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";
import { whenReachable } from "./when-reachable.ts";

/** Ids by topic name; null where the cluster gives topics no ids (before Kafka 2.8). */
export type TopicIds = ReadonlyMap<string, string | null>;

const ANSWER_DEADLINE_MS = 5000;
/** Kafka's error codes. */
const KNOWN = 0;
const UNKNOWN_TOPIC = 3;
const LEADER_NOT_AVAILABLE = 5;

/** The topic's id, or null where the cluster gives no ids. Waits for brokers. Rejects with `topic_missing`. */
export async function readTopicId(connection: KafkaConnection, topic: string): Promise<string | null> {
  return (await readTopicIds(connection, [topic])).get(topic) ?? null;
}

export interface ReadTopicIdsOptions {
  /** How long to ask again for a missing topic, in ms. Default `ADMIN_PATIENCE_MS`. */
  readonly missingPatienceMs?: number;
  /** Ends the waiting for brokers, which has no other end; the call then rejects with the last failure. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/**
 * The ids of all the topics; name at least one. Waits for brokers. Rejects with `topic_missing` when a topic does not
 * exist for `missingPatienceMs`.
 */
export async function readTopicIds(
  connection: KafkaConnection,
  topics: readonly string[],
  { missingPatienceMs = ADMIN_PATIENCE_MS, signal, clock = SYSTEM_CLOCK }: ReadTopicIdsOptions = {},
): Promise<TopicIds> {
  const asking = new TopicIdQuestion(connection, topics);
  const close = () => asking.close();
  signal?.addEventListener("abort", close);
  const giveUpAtMs = clock.monotonicMs() + missingPatienceMs;
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        const found = await whenReachable(connection, () => asking.ask(), signal);
        const missing = topics.filter((topic) => !found.has(topic));
        if (missing.length === 0) return found;
        throw new PosthasteError("topic_missing", `${missing.join(", ")}: no such topic`);
      } catch (error) {
        // A broker may not know of a topic that was made a moment ago.
        const isLast = signal?.aborted || clock.monotonicMs() >= giveUpAtMs;
        if (!isPosthasteError(error, "topic_missing") || isLast) throw error;
      }
      await pause(retryPauseMs(failures), signal);
    }
  } finally {
    signal?.removeEventListener("abort", close);
    asking.close();
  }
}

/**
 * Asks for the ids of some topics, as often as its owner calls `ask`.
 *
 * Owns: one kafkajs client. A failure throws it away. The next client begins with another broker and asks the leader of
 * another topic, so that one broker that cannot be reached does not stop the asking.
 */
export class TopicIdQuestion {
  readonly #connection: KafkaConnection;
  readonly #topics: readonly string[];
  #client: KafkaClient | null = null;
  #broker: Broker | null = null;
  #clientsMade = 0;

  constructor(connection: KafkaConnection, topics: readonly string[]) {
    this.#connection = connection;
    this.#topics = topics;
  }

  /**
   * The ids of those topics that exist. Rejects with `topic_missing` when the topic whose leader it asks does not
   * exist, and with `broker_unavailable`. The caller must wait for one answer before it asks again.
   */
  async ask(): Promise<TopicIds> {
    try {
      return await withDeadline(this.#ask(), ANSWER_DEADLINE_MS, "asking for topics' ids");
    } catch (error) {
      this.close();
      throw toPosthasteError(error, `asking for the ids of ${this.#topics.join(", ")}`);
    }
  }

  close(): void {
    this.#client?.destroy();
    this.#client = null;
    this.#broker = null;
  }

  async #ask(): Promise<TopicIds> {
    this.#broker ??= await this.#connect();
    const found = await requestTopicIds(this.#broker, this.#topics);
    if (found === null) return new Map(this.#topics.map((topic) => [topic, null]));
    const failed = found.find(({ errorCode }) => errorCode !== KNOWN && errorCode !== UNKNOWN_TOPIC);
    if (failed !== undefined) throw errorOfCode(failed.errorCode);
    return new Map(found.flatMap(({ name, errorCode, topicId }) => (errorCode === KNOWN ? [[name, topicId]] : [])));
  }

  /**
   * A leader of a partition of one of the topics, another one at each call. A leader holds the topic, and is among the
   * first to learn that it was recreated.
   */
  async #connect(): Promise<Broker> {
    const count = this.#topics.length;
    const index = this.#clientsMade % count;
    const topic = this.#topics[index] ?? "";
    // Moves on by one in each round of the topics, so that after enough failures every leader of every topic was asked.
    const round = index + Math.floor(this.#clientsMade / count);
    this.#client = this.#connection.createClient({
      brokers: rotate(this.#connection.brokers, this.#clientsMade),
      requestTimeoutMs: ANSWER_DEADLINE_MS,
    });
    this.#clientsMade += 1;
    const cluster = createCluster(this.#client.kafka);
    await cluster.connect();
    await cluster.addTargetTopic(topic);
    const led = cluster.findTopicPartitionMetadata(topic).filter(({ leader }) => leader >= 0);
    const leaders = [...new Set(led.map(({ leader }) => leader))];
    const leader = leaders[round % leaders.length];
    if (leader === undefined) throw errorOfCode(LEADER_NOT_AVAILABLE);
    return await cluster.findBroker({ nodeId: String(leader) });
  }
}
