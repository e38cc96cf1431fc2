/**
 * What is to be sent to one partition, and is not acknowledged. Pure.
 *
 * Owns: the records, in the order in which they were given, and which of them are in the batch that is out.
 * GC1  At most one batch is out (P1). A batch that failed is the next one again, as it was (P2).
 * GC2  A batch is a prefix of the queue, so records leave in the order in which they came.
 * GC4  A batch holds at most `maxRecords` and `maxBytes`: a batch that is refused goes out record by record (GC5), and
 *      a broker takes at most 1 MB of a partition.
 * GC5  A batch that the broker refuses for what one of its records is goes out again record by record. The record that
 *      is refused alone is refused to its caller: one bad record holds nobody up, and nothing good is given up.
 */
import type { OutgoingHeaders } from "../wire/record-batch.ts";
import type { RecordValue } from "./record-value.ts";

/** A record with its partition chosen. */
export interface PlacedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: RecordValue | null;
  readonly headers?: OutgoingHeaders;
  /** Its part of a request in bytes, roughly. */
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

/** The taken part of the queue is cut off when it is this long. */
const CUT_AFTER = 4096;

export class PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  readonly #limits: BatchLimits;
  /** Waiting records from `#head` on. */
  #waiting: QueuedRecord[] = [];
  #head = 0;
  /** The batch that is out, or that failed and is next. */
  #batch: readonly QueuedRecord[] = [];
  #isOut = false;
  /** So many records go out one by one, since a batch of them was refused (GC5). */
  #singles = 0;

  constructor(topic: string, partition: number, limits: BatchLimits) {
    this.topic = topic;
    this.partition = partition;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#batch.length === 0 && this.#head === this.#waiting.length;
  }

  /** True while it has records to send and no batch out. */
  get isReady(): boolean {
    return !this.#isOut && !this.isEmpty;
  }

  /** When the oldest call came that has a record here; null when there is none. */
  get oldestSinceMs(): number | null {
    return (this.#batch[0] ?? this.#waiting[this.#head])?.call.sinceMs ?? null;
  }

  push(queued: QueuedRecord): void {
    this.#waiting.push(queued);
  }

  /** The batch to send now, which is out from here on (GC1). Only while it is ready. */
  take(): PartitionBatch {
    if (this.#batch.length === 0) this.#batch = this.#takePrefix();
    this.#isOut = true;
    const records = this.#batch.map(({ record }) => record);
    return { topic: this.topic, partition: this.partition, records, bytes: sumOfBytes(records) };
  }

  /** The batch that is out was acknowledged; answers what was in it. */
  acknowledge(): readonly QueuedRecord[] {
    const acknowledged = this.#batch;
    this.#batch = [];
    this.#isOut = false;
    return acknowledged;
  }

  /** The batch that is out was not acknowledged: it is the next one again. */
  fail(): void {
    this.#isOut = false;
  }

  /**
   * A broker refused the batch that is out for what one of its records is (GC5). Answers the record when it went alone.
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

  /** Gives everything up; answers it. */
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

  /** Where the next batch ends: before the first record that would exceed a limit (GC2, GC4). */
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
