/**
 * Says when a consumer has come to a standstill that it will not leave by itself (C7), so that the process can end.
 *
 * Owns: how long ago the group last took a commit, and each partition was last heard of.
 * SW1  Ages are counted in ticks of the watch, not by the clock: a process that was suspended blames nobody.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { TopicPartition } from "./rebalance.ts";

const GROUP = "";

export class StallWatch {
  readonly #limitMs: number;
  readonly #groupId: string;
  readonly #ages = new Map<string, number>([[GROUP, 0]]);

  constructor(groupId: string, limitMs: number) {
    this.#groupId = groupId;
    this.#limitMs = limitMs;
  }

  /** The group took a commit, or a heartbeat where nothing is owned. */
  heardGroup(): void {
    this.#ages.set(GROUP, 0);
  }

  /** A fetch brought something of the partition, or the partition has nothing to bring. */
  heardPartition(place: TopicPartition): void {
    this.#ages.set(keyOf(place), 0);
  }

  /**
   * The partition was assigned and is to be heard of from now on. A partition that was expected before keeps its age.
   */
  expectPartition(place: TopicPartition): void {
    const key = keyOf(place);
    if (!this.#ages.has(key)) this.#ages.set(key, 0);
  }

  forget(place: TopicPartition): void {
    this.#ages.delete(keyOf(place));
  }

  /** `tickMs` went by. Returns why the consumer should end, or null. */
  tick(tickMs: number): PosthasteError | null {
    const limitS = this.#limitMs / 1000;
    for (const [key, before] of this.#ages) {
      const age = before + tickMs;
      this.#ages.set(key, age);
      if (age < this.#limitMs) continue;
      return new PosthasteError(
        "group_stalled",
        key === GROUP
          ? `group ${this.#groupId} has had no commit accepted for ${limitS} s`
          : `group ${this.#groupId} has fetched nothing of ${key} for ${limitS} s`,
      );
    }
    return null;
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic} partition ${partition}`;
}
