/**
 * Notices when a consumer has come to a standstill from which it will not recover (C7), so that the process can end.
 *
 * Owns: the time since the group last took a commit, and the time since each partition last showed progress.
 * - The watch counts its own ticks and reads no clock: after a process was suspended, it blames nobody for that time.
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

  /** The group took a commit, was joined for the first time, or answered a heartbeat of a member that owns nothing. */
  sawGroup(): void {
    this.#ages.set(GROUP, 0);
  }

  /** A fetch brought something of the partition, or there is nothing to fetch. */
  sawPartition(place: TopicPartition): void {
    this.#ages.set(keyOf(place), 0);
  }

  /** From now on the partition must show progress. A partition that was expected before keeps its age. */
  expectPartition(place: TopicPartition): void {
    const key = keyOf(place);
    if (!this.#ages.has(key)) this.#ages.set(key, 0);
  }

  forget(place: TopicPartition): void {
    this.#ages.delete(keyOf(place));
  }

  /** Adds `tickMs` to all ages. Returns the reason for which the consumer should end, or null. */
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
