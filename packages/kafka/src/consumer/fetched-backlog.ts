/**
 * The fetched records of a partition that are not taken into its window yet, in offset order.
 *
 * Owns: the records. They are kept as kafkajs fetched them until they are taken, since most wait for no time at all.
 */
import type { KafkaMessage } from "kafkajs";
import type { FetchedSpan } from "./fetch-position.ts";

/** What one fetch brought of the partition. */
export interface FetchedBatch extends FetchedSpan {
  readonly messages: readonly KafkaMessage[];
  /** The partition's end offset at the time. */
  readonly endOffset: number;
}

export class FetchedBacklog {
  #messages: readonly KafkaMessage[] = [];
  /** Those before it were taken. */
  #next = 0;

  get size(): number {
    return this.#messages.length - this.#next;
  }

  /** The lowest; undefined when there is none. */
  get head(): KafkaMessage | undefined {
    return this.#messages[this.#next];
  }

  /** From the lowest on. */
  messages(): readonly KafkaMessage[] {
    return this.#messages.slice(this.#next);
  }

  /** Appends what was fetched from above the last. */
  append(messages: readonly KafkaMessage[]): void {
    this.#messages = this.size > 0 ? [...this.#messages.slice(this.#next), ...messages] : messages;
    this.#next = 0;
  }

  /** Removes the lowest. What was fetched with it is let go when none is left. */
  shift(): void {
    this.#next += 1;
    if (this.size === 0) this.clear();
  }

  clear(): void {
    this.#messages = [];
    this.#next = 0;
  }
}
