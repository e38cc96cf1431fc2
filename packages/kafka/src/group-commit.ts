/**
 * Group commit: what is given to a producer while a request is in flight goes together with the next one. A pure queue;
 * the producer moves the batches.
 *
 * Owns: every record that was given and is not acknowledged, in the order it was given.
 * G1  At most one batch is out (P1). While it is out `next` answers the same one, less what was acknowledged of it: a batch
 *     that failed is sent again before anything else (P2).
 * G2  A batch is a prefix of the queue, so records leave in the order they came.
 * G3  A call settles when all of its records are acknowledged, or when one of them is refused.
 * G4  A batch holds at most `maxRecords` and `maxBytes` a partition: a batch that is refused goes out record by record (G5), and
 *     a broker takes at most 1 MB a partition.
 * G5  A batch that the broker refuses for what a record is goes out again record by record, and the one that is refused
 *     alone is refused to its caller: one bad record holds nobody up and nothing good is given up.
 */

/** A record with its partition chosen. */
export interface PlacedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** What it costs of a request, about. */
  readonly bytes: number;
}

export interface BatchLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** What is out: records by topic, in order. */
export type Batch = ReadonlyMap<string, readonly PlacedRecord[]>;

interface Call {
  unacknowledged: number;
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

interface QueuedRecord {
  readonly record: PlacedRecord;
  readonly call: Call;
}

/** The taken part of the queue is cut off when it is this long. */
const CUT_AFTER = 4096;

export class GroupCommitQueue {
  readonly #limits: BatchLimits;
  /** Waiting records from `#head` on. */
  #waiting: QueuedRecord[] = [];
  #head = 0;
  /** The batch that is out, in queue order; empty when none is. */
  #out: readonly QueuedRecord[] = [];
  /** So many records go out one by one, since a batch of them was refused (G5). */
  #singles = 0;
  #pendingBytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Bytes of everything that is not acknowledged. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get isEmpty(): boolean {
    return this.#out.length === 0 && this.#head === this.#waiting.length;
  }

  /** When the oldest unacknowledged call came, by the clock that `push` was given; null when there is none. */
  get oldestSinceMs(): number | null {
    return (this.#out[0] ?? this.#waiting[this.#head])?.call.sinceMs ?? null;
  }

  /** Takes a call's records; the promise is that call's (G3). */
  push(records: readonly PlacedRecord[], nowMs: number): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const call: Call = { unacknowledged: records.length, sinceMs: nowMs, resolve, reject };
      for (const record of records) {
        this.#waiting.push({ record, call });
        this.#pendingBytes += record.bytes;
      }
    });
  }

  /** The records to send now, by topic and in order (G1); null when nothing waits. */
  next(): Batch | null {
    if (this.#out.length === 0) this.#out = this.#takePrefix();
    if (this.#out.length === 0) return null;
    const batch = new Map<string, PlacedRecord[]>();
    for (const { record } of this.#out) {
      const records = batch.get(record.topic);
      if (records) records.push(record);
      else batch.set(record.topic, [record]);
    }
    return batch;
  }

  /** Takes the acknowledged partitions off the batch that is out; answers how many of its records are left. */
  acknowledge(isAcknowledged: (topic: string, partition: number) => boolean): number {
    const left: QueuedRecord[] = [];
    for (const queued of this.#out) {
      const { record, call } = queued;
      if (!isAcknowledged(record.topic, record.partition)) {
        left.push(queued);
        continue;
      }
      this.#pendingBytes -= record.bytes;
      call.unacknowledged -= 1;
      if (call.unacknowledged === 0) call.resolve();
    }
    this.#out = left;
    return left.length;
  }

  /** A broker refused the batch that is out for what one of its records is, and does not say which (G5). */
  refuse(reason: Error): void {
    const refused = this.#out;
    const [first] = refused;
    if (first === undefined) return;
    this.#out = [];
    if (refused.length === 1) {
      this.#pendingBytes -= first.record.bytes;
      first.call.reject(reason);
      return;
    }
    this.#waiting = [...refused, ...this.#waiting.slice(this.#head)];
    this.#head = 0;
    this.#singles = refused.length;
  }

  /** Gives everything up; its callers get `reason`. */
  rejectAll(reason: Error): void {
    for (const { call } of [...this.#out, ...this.#waiting.slice(this.#head)]) call.reject(reason);
    this.#out = [];
    this.#waiting = [];
    this.#head = 0;
    this.#pendingBytes = 0;
  }

  #takePrefix(): readonly QueuedRecord[] {
    const end = this.#singles > 0 ? Math.min(this.#head + 1, this.#waiting.length) : this.#prefixEnd();
    this.#singles = Math.max(0, this.#singles - 1);
    const taken = this.#waiting.slice(this.#head, end);
    this.#head = end;
    if (this.#head === this.#waiting.length || this.#head > CUT_AFTER) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  /** Where the next batch ends: before the first record whose partition is full (G2, G4). */
  #prefixEnd(): number {
    const fills = new Map<string, PartitionFill[]>();
    let end = this.#head;
    for (; end < this.#waiting.length; end += 1) {
      const record = this.#waiting[end]?.record;
      if (record === undefined) break;
      const fill = fillOf(fills, record);
      const full = fill.records >= this.#limits.maxRecords || fill.bytes + record.bytes > this.#limits.maxBytes;
      if (full && fill.records > 0) break;
      fill.records += 1;
      fill.bytes += record.bytes;
    }
    return end;
  }
}

interface PartitionFill {
  records: number;
  bytes: number;
}

function fillOf(fills: Map<string, PartitionFill[]>, { topic, partition }: PlacedRecord): PartitionFill {
  let ofTopic = fills.get(topic);
  if (ofTopic === undefined) {
    ofTopic = [];
    fills.set(topic, ofTopic);
  }
  let fill = ofTopic[partition];
  if (fill === undefined) {
    fill = { records: 0, bytes: 0 };
    ofTopic[partition] = fill;
  }
  return fill;
}
