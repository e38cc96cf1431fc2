/**
 * Group commit: records that a producer gets while a request is out go together with the next request. Pure queues, one
 * for each partition (partition-queue.ts); the batch sender moves their batches.
 *
 * Owns: every record that was given and is not acknowledged, and the list of partitions that are ready to send.
 * GC3  A call settles when all its records are acknowledged, or when one of them is refused.
 * GC6  The partition that became ready first is offered first, so that none waits for ever while requests are full.
 * partition-queue.ts has GC1, GC2, GC4 and GC5.
 */
import {
  type BatchLimits,
  type Call,
  type PartitionBatch,
  PartitionQueue,
  type PlacedRecord,
} from "./partition-queue.ts";

export class GroupCommitQueue {
  readonly #limits: BatchLimits;
  readonly #topics = new Map<string, PartitionQueue[]>();
  /** Ready partitions, in the order in which they became ready (GC6). */
  readonly #ready = new Set<PartitionQueue>();
  /** Partitions with unacknowledged records, in a batch that is out or not. */
  readonly #occupied = new Set<PartitionQueue>();
  #pendingBytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Bytes of all unacknowledged records. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get isEmpty(): boolean {
    return this.#occupied.size === 0;
  }

  /** When the oldest unacknowledged call came, by the clock whose time `push` was given; null when there is none. */
  get oldestSinceMs(): number | null {
    let oldestMs: number | null = null;
    for (const { oldestSinceMs } of this.#occupied) {
      if (oldestSinceMs !== null && (oldestMs === null || oldestSinceMs < oldestMs)) oldestMs = oldestSinceMs;
    }
    return oldestMs;
  }

  /** When the oldest call came that has an unacknowledged record in this partition; null when there is none. */
  oldestSinceMsOf(topic: string, partition: number): number | null {
    return this.#topics.get(topic)?.[partition]?.oldestSinceMs ?? null;
  }

  /** Partitions with records to send and no batch out (GC6). The caller may take a batch of each while it iterates. */
  get ready(): Iterable<PartitionQueue> {
    return this.#ready;
  }

  /** How many partitions are ready. */
  get readyCount(): number {
    return this.#ready.size;
  }

  /** Adds a call's records. The promise settles as GC3 says. */
  push(records: readonly PlacedRecord[], nowMs: number): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const call: Call = { unacknowledged: records.length, sinceMs: nowMs, resolve, reject };
      for (const record of records) {
        const queue = this.#queueOf(record);
        const wasEmpty = queue.isEmpty;
        queue.push({ record, call });
        this.#pendingBytes += record.bytes;
        if (wasEmpty) this.#settle(queue);
      }
    });
  }

  /** Takes the next batch of a ready partition. It is out until `acknowledge`, `fail` or `refuse` is called for it. */
  take(queue: PartitionQueue): PartitionBatch {
    const batch = queue.take();
    this.#settle(queue);
    return batch;
  }

  /** The partition's batch was acknowledged. */
  acknowledge(queue: PartitionQueue): void {
    for (const { record, call } of queue.acknowledge()) {
      this.#pendingBytes -= record.bytes;
      call.unacknowledged -= 1;
      if (call.unacknowledged === 0) call.resolve();
    }
    this.#settle(queue);
  }

  /** The partition's batch was not acknowledged: it goes out again before anything else of the partition (P2). */
  fail(queue: PartitionQueue): void {
    queue.fail();
    this.#settle(queue);
  }

  /**
   * A broker refused the partition's batch because of one of its records, without saying which (GC5 of
   * partition-queue.ts).
   */
  refuse(queue: PartitionQueue, reason: Error): void {
    const refused = queue.refuse();
    if (refused !== null) {
      this.#pendingBytes -= refused.record.bytes;
      refused.call.reject(reason);
    }
    this.#settle(queue);
  }

  /** Rejects all unsettled calls with `reason` and drops their records. */
  rejectAll(reason: Error): void {
    for (const queue of [...this.#occupied]) {
      for (const { call } of queue.clear()) call.reject(reason);
      this.#settle(queue);
    }
    this.#pendingBytes = 0;
  }

  #queueOf({ topic, partition }: PlacedRecord): PartitionQueue {
    let ofTopic = this.#topics.get(topic);
    if (ofTopic === undefined) {
      ofTopic = [];
      this.#topics.set(topic, ofTopic);
    }
    let queue = ofTopic[partition];
    if (queue === undefined) {
      queue = new PartitionQueue(topic, partition, this.#limits);
      ofTopic[partition] = queue;
    }
    return queue;
  }

  #settle(queue: PartitionQueue): void {
    if (queue.isReady) this.#ready.add(queue);
    else this.#ready.delete(queue);
    if (queue.isEmpty) this.#occupied.delete(queue);
    else this.#occupied.add(queue);
  }
}
