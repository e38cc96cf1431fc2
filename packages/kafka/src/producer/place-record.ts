/** Chooses a record's partition, and estimates the bytes that the record takes in a request. */
import { PosthasteError } from "@posthaste/core/errors";
import { partitionOf } from "../wire/murmur2.ts";
import type { OutgoingHeaders } from "../wire/record-batch.ts";
import type { PlacedRecord } from "./partition-queue.ts";
import type { RecordValue } from "./record-value.ts";

export interface OutgoingRecord {
  readonly topic: string;
  readonly key: Buffer | string | null;
  readonly value: RecordValue | null;
  readonly headers?: OutgoingHeaders;
  /** Chosen by murmur2 of the key when absent. Records without a key go to one partition after the other. */
  readonly partition?: number;
}

/**
 * A broker takes 1,048,588 bytes of a partition in a request (`message.max.bytes`). The difference leaves space for the
 * batch's own header.
 */
export const MAX_BATCH_BYTES = 1_000_000;
/** Bytes of a record's lengths, offset and time, and of its share of the batch's header. */
const RECORD_OVERHEAD_BYTES = 40;
const HEADER_OVERHEAD_BYTES = 6;

export class RecordPlacer {
  readonly #countOf: (topic: string) => number | undefined;
  #lastPartition = 0;

  /** `countOf` returns the number of a topic's partitions; undefined for a topic that the producer was not made for. */
  constructor(countOf: (topic: string) => number | undefined) {
    this.#countOf = countOf;
  }

  /**
   * Places the record. Returns an `invalid_input` for a record that no broker would take, or whose topic or partition
   * does not exist here.
   */
  place({ topic, key, value, headers, partition }: OutgoingRecord): PlacedRecord | PosthasteError {
    const count = this.#countOf(topic);
    if (count === undefined) return new PosthasteError("invalid_input", `the producer was not made for topic ${topic}`);
    if (partition !== undefined && !(partition >= 0 && partition < count)) {
      return new PosthasteError("invalid_input", `topic ${topic} has no partition ${partition}`);
    }
    const keyBytes = typeof key === "string" ? Buffer.from(key) : key;
    let bytes = RECORD_OVERHEAD_BYTES + (keyBytes?.length ?? 0) + (value?.length ?? 0);
    // A character takes at most three bytes of UTF-8. Headers are short, so the high estimate costs nothing.
    for (const name in headers) bytes += HEADER_OVERHEAD_BYTES + 3 * (name.length + headerLength(headers[name]));
    if (bytes > MAX_BATCH_BYTES) {
      return new PosthasteError("invalid_input", `a record of ${bytes} bytes for ${topic}: at most ${MAX_BATCH_BYTES}`);
    }
    const chosen = partition ?? (keyBytes ? partitionOf(keyBytes, count) : this.#nextPartition(count));
    return { topic, partition: chosen, key: keyBytes, value, bytes, ...(headers ? { headers } : {}) };
  }

  #nextPartition(count: number): number {
    this.#lastPartition = (this.#lastPartition + 1) % count;
    return this.#lastPartition;
  }
}

/** The length of a header's values; each value but the first repeats the header's overhead. */
function headerLength(value: OutgoingHeaders[string] | undefined): number {
  if (value === undefined) return 0;
  if (typeof value === "string" || Buffer.isBuffer(value)) return value.length;
  return value.reduce((sum, each) => sum + each.length + HEADER_OVERHEAD_BYTES, 0);
}
