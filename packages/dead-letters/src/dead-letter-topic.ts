/**
 * The id of the present dead-letter topic. A topic that was made anew has other dead letters at the same offsets, so
 * that plans, replays and purges of the old topic say nothing of them.
 *
 * Owns: the topic's id as it was last seen, and the watch on it.
 */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicId, readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { TopicWatch } from "@posthaste/kafka/connection/topic-watch";

const LOOK_MS = 10_000;

export class DeadLetterTopic {
  readonly #connection: KafkaConnection;
  readonly #topic: string;
  #id: string | null;
  #watch: TopicWatch | null = null;
  readonly #closing = new AbortController();

  private constructor(connection: KafkaConnection, topic: string, id: string | null) {
    this.#connection = connection;
    this.#topic = topic;
    this.#id = id;
    this.#look();
  }

  /** Waits for brokers. Rejects with `topic_missing`. */
  static async open(connection: KafkaConnection, topic: string): Promise<DeadLetterTopic> {
    return new DeadLetterTopic(connection, topic, await readTopicId(connection, topic));
  }

  /** The id as it was last seen; null where the cluster gives none. */
  get id(): string | null {
    return this.#id;
  }

  /**
   * Reads the id. Waits for brokers until `signal` ends that. Rejects with `topic_missing` and `broker_unavailable`.
   */
  async refresh(signal: AbortSignal): Promise<string | null> {
    const found = await readTopicIds(this.#connection, [this.#topic], { signal });
    this.#id = found.get(this.#topic) ?? null;
    return this.#id;
  }

  close(): void {
    this.#closing.abort();
    this.#watch?.close();
  }

  #look(): void {
    if (this.#closing.signal.aborted) return;
    this.#watch = new TopicWatch(this.#connection, {
      topicIds: new Map([[this.#topic, this.#id]]),
      everyMs: LOOK_MS,
      onRemade: () => {
        this.#connection.log.warn({ event: "dead_letters_made_anew", topic: this.#topic });
        // A topic that is missing by then is watched further under its old id.
        this.refresh(this.#closing.signal)
          .catch(() => undefined)
          .finally(() => this.#look());
      },
    });
  }
}
