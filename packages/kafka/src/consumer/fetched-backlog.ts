/**
 * The fetched records of a partition that its window has not taken in yet, in offset order.
 *
 * Owns: the records, as kafkajs fetched them: most of them wait for no time at all, and copying them would be for
 * nothing.
 */
import type { KafkaMessage } from "kafkajs";
import type { FetchedSpan } from "./fetch-position.ts";

/** The records and offsets of one partition in one fetch. */
export interface FetchedBatch extends FetchedSpan {
  readonly messages: readonly KafkaMessage[];
  /** The partition's end offset at the time of the fetch. */
  readonly endOffset: number;
}

export class FetchedBacklog {
  #messages: readonly KafkaMessage[] = [];
  /** Index of the first record that the window has not taken in. */
  #next = 0;

  get size(): number {
    return this.#messages.length - this.#next;
  }

  /** The record with the lowest offset; undefined when the backlog is empty. */
  get head(): KafkaMessage | undefined {
    return this.#messages[this.#next];
  }

  /** All records, lowest offset first. */
  messages(): readonly KafkaMessage[] {
    return this.#messages.slice(this.#next);
  }

  /** Appends fetched records whose offsets are above all others of the backlog. */
  append(messages: readonly KafkaMessage[]): void {
    this.#messages = this.size > 0 ? [...this.#messages.slice(this.#next), ...messages] : messages;
    this.#next = 0;
  }

  /** Removes the record with the lowest offset. The memory of a fetch is freed when the backlog is empty. */
  shift(): void {
    this.#next += 1;
    if (this.size === 0) this.clear();
  }

  clear(): void {
    this.#messages = [];
    this.#next = 0;
  }
}
