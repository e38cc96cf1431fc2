/**
 * The topics of a subscription, by the ids that they had when the consumer started, and the watch that notices when one
 * is recreated.
 *
 * Owns: the topics' ids, and the watch.
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

  /** The ids by topic; empty before `read`. An id is null where the cluster gives topics none. */
  get ids(): TopicIds {
    return this.#ids;
  }

  /** Reads the topics' ids, unless the caller gave them. Rejects with `topic_missing`, and when `signal` is aborted. */
  async read(signal: AbortSignal): Promise<void> {
    const { topics, topicIds } = this.#terms;
    this.#ids = topicIds ?? (await readTopicIds(this.#connection, topics, { signal }));
  }

  /** Watches from now on. Calls `onRemade` once, when a topic was recreated. */
  watch(onRemade: (reason: PosthasteError) => void): void {
    this.#watch = new TopicWatch(this.#connection, {
      topicIds: this.#ids,
      onRemade: (topic) => onRemade(remade(topic)),
    });
  }

  /** Asks the brokers once more for the ids. Resolves when they answered. Never rejects. */
  async look(): Promise<void> {
    await this.#watch?.look();
  }

  close(): void {
    this.#watch?.close();
  }
}

/**
 * The reason for ending. A new start is all that helps, and all that is needed: it reads the new topic from its start.
 */
function remade(topic: string): PosthasteError {
  const what = `${topic} was made anew while it was read: the process is to be started again`;
  return new PosthasteError("topic_mismatch", what);
}
