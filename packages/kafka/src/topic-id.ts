/**
 * Kafka's own id of a topic: another one each time that the topic is made, so that it tells a topic that was made anew
 * from the one that had its name before.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { KafkaClient, KafkaConnection } from "./connect.ts";
import { pause, retryPauseMs, withDeadline } from "./deadline.ts";
import { toPosthasteError } from "./kafka-errors.ts";
import { type Broker, createCluster, errorOfCode, requestTopicId } from "./kafkajs-internals.ts";
import { ADMIN_PATIENCE_MS, rotate } from "./shared-admin.ts";
import { whenReachable } from "./when-reachable.ts";

const ANSWER_DEADLINE_MS = 5000;
/** Kafka's codes. */
const KNOWN = 0;
const LEADER_NOT_AVAILABLE = 5;

/** The topic's id, or null where the cluster has none (before Kafka 2.8). Waits for brokers. Rejects with `topic_missing`. */
export async function readTopicId(connection: KafkaConnection, topic: string): Promise<string | null> {
  const asking = new TopicIdQuestion(connection, topic);
  const giveUpAtMs = performance.now() + ADMIN_PATIENCE_MS;
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        return await whenReachable(connection, () => asking.ask());
      } catch (error) {
        // A topic that was just made is not known to every broker for a moment.
        if (!isPosthasteError(error, "topic_missing") || performance.now() >= giveUpAtMs) throw error;
      }
      await pause(retryPauseMs(failures));
    }
  } finally {
    asking.close();
  }
}

/**
 * Asks for one topic's id, now and again.
 *
 * Owns: one kafkajs client, thrown away after each failure; the next one's list of brokers starts with another.
 */
export class TopicIdQuestion {
  readonly #connection: KafkaConnection;
  readonly #topic: string;
  #client: KafkaClient | null = null;
  #broker: Broker | null = null;
  #made = 0;

  constructor(connection: KafkaConnection, topic: string) {
    this.#connection = connection;
    this.#topic = topic;
  }

  /** Null where the cluster has no ids. Rejects with `topic_missing` or `broker_unavailable`; not to be called while it is asked. */
  async ask(): Promise<string | null> {
    try {
      return await withDeadline(this.#ask(), ANSWER_DEADLINE_MS, "asking for a topic's id");
    } catch (error) {
      this.close();
      throw toPosthasteError(error, `asking for the id of ${this.#topic}`);
    }
  }

  close(): void {
    this.#client?.destroy();
    this.#client = null;
    this.#broker = null;
  }

  async #ask(): Promise<string | null> {
    this.#broker ??= await this.#connect();
    const topics = await requestTopicId(this.#broker, this.#topic);
    if (topics === null) return null;
    const found = topics.find(({ name }) => name === this.#topic);
    if (found === undefined) throw new PosthasteError("topic_missing", `${this.#topic} does not exist`);
    if (found.errorCode !== KNOWN) throw errorOfCode(found.errorCode);
    return found.topicId;
  }

  /** The leader of a partition, of any that has one: it holds the topic, and is among the first to know of another. */
  async #connect(): Promise<Broker> {
    this.#client = this.#connection.createClient({
      brokers: rotate(this.#connection.brokers, this.#made),
      requestTimeoutMs: ANSWER_DEADLINE_MS,
    });
    this.#made += 1;
    const cluster = createCluster(this.#client.kafka);
    await cluster.connect();
    await cluster.addTargetTopic(this.#topic);
    const led = cluster.findTopicPartitionMetadata(this.#topic).find(({ leader }) => leader >= 0);
    if (led === undefined) throw errorOfCode(LEADER_NOT_AVAILABLE);
    return await cluster.findBroker({ nodeId: String(led.leader) });
  }
}
