/**
 * The records of one partition that are to be sent or are not acknowledged. Pure.
 *
 * Owns: the records, in the order in which they were given, and the batch that is out. The queue is
 * - *empty*, then *ready* from the first `push`;
 * - *out* from `take` to `acknowledge`, `fail` or `refuse`, then ready again or empty.
 * GC1  At most one batch is out (P1). A batch that failed is the next batch again, unchanged (P2).
 * GC2  A batch is a prefix of the queue, so records leave in the order in which they came.
 * GC4  A batch holds at most `maxRecords` and `maxBytes`. The first bounds the requests of GC5; the second keeps a
 *      batch below the 1 MB that a broker takes of a partition.
 * GC5  A batch that the broker refuses because of one of its records goes out again record by record. A record that is
 *      refused alone is refused to its caller. So one bad record stops no other, and no good record is given up.
 */
import type { OutgoingHeaders } from "../wire/record-batch.ts";
import type { RecordValue } from "./record-value.ts";

/** A record whose partition was chosen. */
export interface PlacedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: RecordValue | null;
  readonly headers?: OutgoingHeaders;
  /** Roughly the bytes that the record takes in a request. */
  readonly bytes: number;
}

export interface BatchLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** Records that go to one partition in one request, in order. */
export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly PlacedRecord[];
  readonly bytes: number;
}

/** A call of `send`, which settles once. */
export interface Call {
  unacknowledged: number;
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

export interface QueuedRecord {
  readonly record: PlacedRecord;
  readonly call: Call;
}

/** The part of the array before `#head` is cut off when it is this long. */
const CUT_AFTER = 4096;

export class PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  readonly #limits: BatchLimits;
  /** The records that wait are those from index `#head` on. */
  #waiting: QueuedRecord[] = [];
  #head = 0;
  /** The batch that is out, or the failed batch that is to go out next. */
  #batch: readonly QueuedRecord[] = [];
  #isOut = false;
  /** How many of the next records go out one by one, since a batch that held them was refused (GC5). */
  #singles = 0;

  constructor(topic: string, partition: number, limits: BatchLimits) {
    this.topic = topic;
    this.partition = partition;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#batch.length === 0 && this.#head === this.#waiting.length;
  }

  /** True while there are records to send and no batch is out. */
  get isReady(): boolean {
    return !this.#isOut && !this.isEmpty;
  }

  /** When the oldest call came that has a record here; null when the queue is empty. */
  get oldestSinceMs(): number | null {
    return (this.#batch[0] ?? this.#waiting[this.#head])?.call.sinceMs ?? null;
  }

  push(queued: QueuedRecord): void {
    this.#waiting.push(queued);
  }

  /** Takes the batch to send now, which is out from here on (GC1). Call it only while the queue is ready. */
  take(): PartitionBatch {
    if (this.#batch.length === 0) this.#batch = this.#takePrefix();
    this.#isOut = true;
    const records = this.#batch.map(({ record }) => record);
    return { topic: this.topic, partition: this.partition, records, bytes: sumOfBytes(records) };
  }

  /** The batch that is out was acknowledged; returns its records. */
  acknowledge(): readonly QueuedRecord[] {
    const acknowledged = this.#batch;
    this.#batch = [];
    this.#isOut = false;
    return acknowledged;
  }

  /** The batch that is out was not acknowledged: it is the next batch again. */
  fail(): void {
    this.#isOut = false;
  }

  /**
   * A broker refused the batch that is out because of one of its records (GC5). Returns the record if it went alone.
   */
  refuse(): QueuedRecord | null {
    const refused = this.acknowledge();
    const [first] = refused;
    if (first === undefined || refused.length === 1) return first ?? null;
    this.#waiting = [...refused, ...this.#waiting.slice(this.#head)];
    this.#head = 0;
    this.#singles = refused.length;
    return null;
  }

  /** Removes all records and returns them. */
  clear(): readonly QueuedRecord[] {
    const left = [...this.acknowledge(), ...this.#waiting.slice(this.#head)];
    this.#waiting = [];
    this.#head = 0;
    this.#singles = 0;
    return left;
  }

  #takePrefix(): readonly QueuedRecord[] {
    const end = this.#singles > 0 ? this.#head + 1 : this.#prefixEnd();
    this.#singles = Math.max(0, this.#singles - 1);
    const taken = this.#waiting.slice(this.#head, end);
    this.#head = end;
    if (this.#head === this.#waiting.length || this.#head > CUT_AFTER) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  /** The index at which the next batch ends: the index of the first record that would exceed a limit (GC2, GC4). */
  #prefixEnd(): number {
    const { maxRecords, maxBytes } = this.#limits;
    const last = Math.min(this.#waiting.length, this.#head + maxRecords);
    let bytes = 0;
    for (let end = this.#head; end < last; end += 1) {
      bytes += this.#waiting[end]?.record.bytes ?? 0;
      if (bytes > maxBytes) return Math.max(end, this.#head + 1);
    }
    return last;
  }
}

function sumOfBytes(records: readonly PlacedRecord[]): number {
  let bytes = 0;
  for (const record of records) bytes += record.bytes;
  return bytes;
}
