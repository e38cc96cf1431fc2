/**
 * Notices when a topic that is being read was recreated. A reader that went on would take offsets of the new log for
 * offsets of the old one.
 *
 * Owns: a timer, and the one question that may be out with the callers that share it and the next.
 * - Only another id counts. A broker that does not answer shows nothing, nor does a topic that is missing for a moment.
 */
import type { KafkaConnection } from "./connect.ts";
import { describe } from "./kafka-errors.ts";
import { singleFlight } from "./single-flight.ts";
import { TopicIdQuestion, type TopicIds } from "./topic-id.ts";

const DEFAULT_EVERY_MS = 5000;

export interface TopicWatchOptions {
  /** The ids that the topics had when reading began. A topic without an id is not watched. */
  readonly topicIds: TopicIds;
  /** Ms between two questions. Default 5,000. */
  readonly everyMs?: number;
  /** Called at most once, with the topic that was recreated; the watch is closed then. */
  readonly onRemade: (topic: string) => void;
}

export class TopicWatch {
  readonly #connection: KafkaConnection;
  readonly #options: TopicWatchOptions;
  readonly #topics: readonly string[];
  readonly #question: TopicIdQuestion;
  #timer: NodeJS.Timeout | undefined;

  /** Watches from now until `close`. */
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

  /**
   * Asks the brokers once. Resolves when a question that began after the call was answered or failed. Never rejects.
   */
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
