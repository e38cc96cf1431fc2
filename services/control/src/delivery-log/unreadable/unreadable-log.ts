/**
 * Follows `posthaste.unreadable` for the newest records that were quarantined (UJ1 to UJ4 of unreadable-entries.ts).
 *
 * Owns: the readers of its partitions (topic-readers.ts).
 */
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { TopicReaders } from "@posthaste/kafka/log/topic-readers";
import { UnreadableEntries, type UnreadableEntry } from "./unreadable-entries.ts";

/** Places are some 100 bytes each; as many records are read of each partition at the start. */
const BOUNDS = { mostEntries: 10_000, mostPlaces: 100_000 };
/** The most bytes of one fetch. */
const MAX_BYTES = 4_000_000;

export class UnreadableLog {
  readonly #entries = new UnreadableEntries(BOUNDS);
  readonly #readers: TopicReaders;

  /** `onFailure` is called when a partition cannot be read any more. */
  constructor(connection: KafkaConnection, topic: string, onFailure: (reason: Error) => void) {
    this.#readers = new TopicReaders(connection, {
      ...{ topic, topicId: null, maxBytes: MAX_BYTES, awaitsLeaderless: true },
      message: "the unreadable records are behind",
      from: ({ end }) => Math.max(0, end - BOUNDS.mostPlaces),
      onRecords: (_, records) => {
        for (const record of records) this.#entries.take(record);
      },
      onFailure: (reason, partition) => {
        if (partition !== null) onFailure(reason);
      },
    });
  }

  /** Resolves when the readers begin. */
  begun(): Promise<void> {
    return this.#readers.begun();
  }

  /** Resolves when the readers have read every record that stood in the topic at the start. */
  caughtUp(): Promise<void> {
    return this.#readers.caughtUp;
  }

  /**
   * Resolves when the readers have read every record that stands in the topic now; rejects with `deadline_exceeded`
   * when that takes longer than `timeoutMs`.
   */
  async refresh(timeoutMs: number): Promise<void> {
    await this.#readers.refresh(timeoutMs);
  }

  has(place: string): boolean {
    return this.#entries.has(place);
  }

  /** Newest first; entries of one moment by their places. */
  entries(): readonly UnreadableEntry[] {
    return this.#entries.list();
  }

  /** Drops an entry whose record is no longer in the topic. */
  drop(entry: UnreadableEntry): void {
    this.#entries.drop(entry);
  }

  close(): void {
    this.#readers.close();
  }
}
