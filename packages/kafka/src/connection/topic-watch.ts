/**
 * Notices that a topic was made anew while it is read: whoever read on would take the new log's offsets for the old
 * one's.
 *
 * Owns: a timer and the one question that may be open, with those who wait for the next.
 * TW1  A broker that does not answer says nothing, nor does a topic that is missing for a moment: only another id does.
 */
import type { KafkaConnection } from "./connect.ts";
import { describe } from "./kafka-errors.ts";
import { singleFlight } from "./single-flight.ts";
import { TopicIdQuestion, type TopicIds } from "./topic-id.ts";

const DEFAULT_EVERY_MS = 5000;

export interface TopicWatchOptions {
  /** The ids that the topics had when their reading began; where the cluster has none nothing is watched. */
  readonly topicIds: TopicIds;
  /** Ms between two looks; default 5,000. */
  readonly everyMs?: number;
  /** Called once, with the topic that is another. */
  readonly onRemade: (topic: string) => void;
}

export class TopicWatch {
  readonly #connection: KafkaConnection;
  readonly #options: TopicWatchOptions;
  readonly #topics: readonly string[];
  readonly #question: TopicIdQuestion;
  #timer: NodeJS.Timeout | undefined;

  /** Watches from now on, until `close`. */
  constructor(connection: KafkaConnection, options: TopicWatchOptions) {
    this.#connection = connection;
    this.#options = options;
    const { topicIds, everyMs = DEFAULT_EVERY_MS } = options;
    this.#topics = [...topicIds].flatMap(([topic, id]) => (id === null ? [] : [topic]));
    this.#question = new TopicIdQuestion(connection, this.#topics);
    if (this.#topics.length > 0) this.#timer = setInterval(() => void this.look(), everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#question.close();
  }

  /** Resolves when the brokers have answered, or failed, a question that was asked after the call. Never rejects. */
  readonly look = singleFlight(() => this.#look());

  async #look(): Promise<void> {
    if (this.#timer === undefined) return;
    try {
      const { topicIds } = this.#options;
      const now = await this.#question.ask();
      const remade = this.#topics.find((topic) => (now.get(topic) ?? topicIds.get(topic)) !== topicIds.get(topic));
      if (remade === undefined || this.#timer === undefined) return;
      this.close();
      this.#options.onRemade(remade);
    } catch (error) {
      this.#connection.log.debug({ event: "topic_ids_unknown", topics: this.#topics, reason: describe(error) });
    }
  }
}
