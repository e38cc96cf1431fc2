/** Sending without losing. */
import type { KafkaConnection } from "./connect.ts";

export interface OutgoingRecord {
  readonly topic: string;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Chosen by murmur2 of the key when absent, in turn for a record without a key. */
  readonly partition?: number;
}

export interface Producer {
  /**
   * Sends records in the order of the calls. Resolves when all in-sync replicas acknowledged every record. While the
   * producer is open it sends again for ever (P2); it rejects only with PosthasteError `invalid_input` (a record that is
   * too large, or a partition that does not exist; nothing of the call was sent) or `closed`.
   */
  send(records: readonly OutgoingRecord[]): Promise<void>;
  /** Bytes of keys and values that are not acknowledged yet. */
  readonly pendingBytes: number;
  /** Ms since the oldest unacknowledged call; 0 when there is none. */
  readonly oldestPendingMs: number;
  /** Flushes, at most `CLOSE_FLUSH_MS`, rejects with `closed` what was not acknowledged by then, and disconnects. */
  close(): Promise<void>;
}

export interface ProducerOptions {
  /** The metrics' label `class`: what the producer is for. */
  readonly name: string;
  /** The topics whose partitions are read before the first send; others are read when they are first sent to. */
  readonly topics: readonly string[];
}

/** Resolves when the partitions of `topics` are known; rejects with `topic_missing` for one that does not exist. */
export function createProducer(_connection: KafkaConnection, _options: ProducerOptions): Promise<Producer> {
  throw new Error("not written");
}
