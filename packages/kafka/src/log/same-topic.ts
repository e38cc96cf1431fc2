/** Tells a topic that was recreated from the topic whose reading began. */
import { PosthasteError } from "@posthaste/core/errors";
import { type Broker, requestTopicIds } from "../kafkajs/kafkajs-internals.ts";

export class SameTopic {
  readonly #topic: string;
  /** Null until it is known, and for ever where the cluster gives topics no ids. */
  #topicId: string | null;

  /** `topicId` is the id of the topic to read. With null, it is the first id that a broker names. */
  constructor(topic: string, topicId: string | null) {
    this.#topic = topic;
    this.#topicId = topicId;
  }

  /**
   * Rejects with `offset_out_of_range` when the broker names another id. Resolves when the broker does not know the
   * topic.
   */
  async assert(broker: Broker): Promise<void> {
    const found = await requestTopicIds(broker, [this.#topic]);
    const topicId = found?.find(({ name }) => name === this.#topic)?.topicId ?? null;
    if (topicId === null || topicId === this.#topicId) return;
    if (this.#topicId !== null) throw new PosthasteError("offset_out_of_range", `${this.#topic} was made anew`);
    this.#topicId = topicId;
  }
}
