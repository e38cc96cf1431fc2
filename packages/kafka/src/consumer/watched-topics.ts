/**
 * The topics of a subscription: which topics of Kafka's had their names when the consumer started, and whether they
 * still have.
 *
 * Owns: the topics' ids from the start on, and the watch over them.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "../connection/connect.ts";
import { readTopicIds, type TopicIds } from "../connection/topic-id.ts";
import { TopicWatch } from "../connection/topic-watch.ts";
import type { WindowedConsumerOptions } from "./windowed-consumer.ts";

export class WatchedTopics {
  readonly #connection: KafkaConnection;
  readonly #terms: Pick<WindowedConsumerOptions<never>, "topics" | "topicIds">;
  #ids: TopicIds = new Map();
  #watch: TopicWatch | undefined;

  constructor(connection: KafkaConnection, terms: Pick<WindowedConsumerOptions<never>, "topics" | "topicIds">) {
    this.#connection = connection;
    this.#terms = terms;
  }

  /** Empty before `read`; an id is null where the cluster gives topics none. */
  get ids(): TopicIds {
    return this.#ids;
  }

  /**
   * Settles which topics are meant: by the caller's ids, else by asking. Rejects with `topic_missing`, and when
   * aborted.
   */
  async read(signal: AbortSignal): Promise<void> {
    const { topics, topicIds } = this.#terms;
    this.#ids = topicIds ?? (await readTopicIds(this.#connection, topics, { signal }));
  }

  /** Watches from now on; `onRemade` is called once, when a topic was made anew. */
  watch(onRemade: (reason: PosthasteError) => void): void {
    this.#watch = new TopicWatch(this.#connection, {
      topicIds: this.#ids,
      onRemade: (topic) => onRemade(remade(topic)),
    });
  }

  /** Resolves when the brokers were asked once more. Never rejects. */
  async look(): Promise<void> {
    await this.#watch?.look();
  }

  close(): void {
    this.#watch?.close();
  }
}

/** To begin again is all that it takes: the next start reads the new topic from its start. */
function remade(topic: string): PosthasteError {
  const what = `${topic} was made anew while it was read: the process is to be started again`;
  return new PosthasteError("topic_mismatch", what);
}
