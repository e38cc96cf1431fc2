/** Tells a topic that was made anew from the one whose reading began. */
import { PosthasteError } from "@posthaste/core/errors";
import { type Broker, requestTopicIds } from "../kafkajs/kafkajs-internals.ts";

export class SameTopic {
  readonly #topic: string;
  /** Null before it is known, and where the cluster has none. */
  #topicId: string | null;

  /** `topicId` is that of the topic which is meant; null for the one that is found first. */
  constructor(topic: string, topicId: string | null) {
    this.#topic = topic;
    this.#topicId = topicId;
  }

  /** Rejects with `offset_out_of_range` for another topic of the name; a broker that does not know it says nothing. */
  async assert(broker: Broker): Promise<void> {
    const found = await requestTopicIds(broker, [this.#topic]);
    const topicId = found?.find(({ name }) => name === this.#topic)?.topicId ?? null;
    if (topicId === null || topicId === this.#topicId) return;
    if (this.#topicId !== null) throw new PosthasteError("offset_out_of_range", `${this.#topic} was made anew`);
    this.#topicId = topicId;
  }
}
