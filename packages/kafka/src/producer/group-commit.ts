/**
 * Group commit: what is given to a producer while a request is in flight goes together with the next one. Pure queues,
 * one for each partition (partition-queue.ts); the producer moves their batches.
 *
 * Owns: every record that was given and is not acknowledged, and which partitions are ready to send.
 * GC3  A call settles when all of its records are acknowledged, or when one of them is refused.
 * GC6  The partition that became ready first is offered first, so that no partition waits for ever where not all fit
 *      into a request.
 * GC1, GC2, GC4 and GC5 stand in partition-queue.ts.
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
  /** In the order in which they became ready (GC6). */
  readonly #ready = new Set<PartitionQueue>();
  /** Those with records, out or not. */
  readonly #occupied = new Set<PartitionQueue>();
  #pendingBytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  /** Bytes of everything that is not acknowledged. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get isEmpty(): boolean {
    return this.#occupied.size === 0;
  }

  /** When the oldest unacknowledged call came, by the clock that `push` was given; null when there is none. */
  get oldestSinceMs(): number | null {
    let oldestMs: number | null = null;
    for (const { oldestSinceMs } of this.#occupied) {
      if (oldestSinceMs !== null && (oldestMs === null || oldestSinceMs < oldestMs)) oldestMs = oldestSinceMs;
    }
    return oldestMs;
  }

  /** The same of one partition. */
  oldestSinceMsOf(topic: string, partition: number): number | null {
    return this.#topics.get(topic)?.[partition]?.oldestSinceMs ?? null;
  }

  /**
   * Partitions that have records to send and no batch out (GC6). A batch may be taken of each while they are gone
   * through.
   */
  get ready(): Iterable<PartitionQueue> {
    return this.#ready;
  }

  /** How many partitions `ready` has. */
  get readyCount(): number {
    return this.#ready.size;
  }

  /** Takes a call's records; the promise is that call's (GC3). */
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

  /** The batch that a ready partition is to send now; it is out until one of the following is called for it. */
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

  /** A broker refused the partition's batch for what one of its records is, and does not say which (GC5). */
  refuse(queue: PartitionQueue, reason: Error): void {
    const refused = queue.refuse();
    if (refused !== null) {
      this.#pendingBytes -= refused.record.bytes;
      refused.call.reject(reason);
    }
    this.#settle(queue);
  }

  /** Gives everything up; its callers get `reason`. */
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
