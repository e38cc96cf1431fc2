/**
 * Notices that a topic was made anew while it is read: whoever reads on would take the new log's offsets for the old one's.
 *
 * Owns: a timer and the one question that may be open.
 * I1  A broker that does not answer, and a topic that is missing for a moment, say nothing: only another id does.
 */
import type { KafkaConnection } from "./connect.ts";
import { describe } from "./kafka-errors.ts";
import { TopicIdQuestion } from "./topic-id.ts";

const DEFAULT_EVERY_MS = 5000;

export interface TopicWatchOptions {
  readonly topic: string;
  /** The id that the topic had when its reading began; null where the cluster has none: then nothing is watched. */
  readonly topicId: string | null;
  /** Ms between two looks; default 5,000. */
  readonly everyMs?: number;
  /** Called once. */
  readonly onRemade: () => void;
}

export class TopicWatch {
  readonly #connection: KafkaConnection;
  readonly #options: TopicWatchOptions;
  readonly #question: TopicIdQuestion;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

  /** Watches from now on, until `close`. */
  constructor(connection: KafkaConnection, options: TopicWatchOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#question = new TopicIdQuestion(connection, options.topic);
    const { topicId, everyMs = DEFAULT_EVERY_MS } = options;
    if (topicId !== null) this.#timer = setInterval(() => void this.#look(), everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#question.close();
  }

  async #look(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { topic, topicId, onRemade } = this.#options;
    try {
      const now = await this.#question.ask();
      if (now === null || now === topicId) return;
      this.close();
      onRemade();
    } catch (error) {
      this.#connection.log.debug({ event: "topic_id_unknown", topic, reason: describe(error) });
    } finally {
      this.#isAsking = false;
    }
  }
}
