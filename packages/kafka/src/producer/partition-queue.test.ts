import { describe, expect, it } from "vitest";
import { PartitionQueue, type PlacedRecord, type QueuedRecord } from "./partition-queue.ts";

const LIMITS = { maxRecords: 3, maxBytes: 100 };

/** A record of so many bytes, given at `sinceMs`. */
function queued(bytes: number, sinceMs = 0): QueuedRecord {
  const record: PlacedRecord = { topic: "t", partition: 0, key: null, value: null, bytes };
  return { record, call: { unacknowledged: 1, sinceMs, resolve: () => {}, reject: () => {} } };
}

function filled(...all: readonly QueuedRecord[]): PartitionQueue {
  const queue = new PartitionQueue("t", 0, LIMITS);
  for (const each of all) queue.push(each);
  return queue;
}

describe("the queue of a partition", () => {
  it("GC4: fills a batch to its limits exactly, and tells its bytes", () => {
    const exact = filled(queued(60), queued(40), queued(1));
    expect(exact.take()).toMatchObject({
      topic: "t",
      partition: 0,
      records: [{ bytes: 60 }, { bytes: 40 }],
      bytes: 100,
    });
    const many = filled(queued(1), queued(2), queued(3), queued(4));
    expect(many.take()).toMatchObject({ records: [{ bytes: 1 }, { bytes: 2 }, { bytes: 3 }], bytes: 6 });
  });

  it("GC4: takes a record alone that is larger than a batch may be", () => {
    const queue = filled(queued(101), queued(1));
    expect(queue.take().records).toHaveLength(1);
    queue.acknowledge();
    expect(queue.take()).toMatchObject({ bytes: 1 });
  });

  it("GC1: is ready while it has records and no batch out, and sends a batch that failed again as it was", () => {
    const queue = filled(queued(60), queued(60));
    expect([queue.isReady, queue.isEmpty]).toEqual([true, false]);
    const first = queue.take();
    queue.push(queued(1));
    expect(queue.isReady).toBe(false);
    queue.fail();
    expect(queue.isReady).toBe(true);
    expect(queue.take()).toEqual(first);
  });

  it("knows since when its oldest record waits, out or not, and of none when it is empty", () => {
    const queue = filled(queued(100, 7), queued(1, 9));
    expect(queue.oldestSinceMs).toBe(7);
    queue.take();
    expect(queue.oldestSinceMs).toBe(7);
    queue.acknowledge();
    expect(queue.oldestSinceMs).toBe(9);
    queue.take();
    queue.acknowledge();
    expect([queue.oldestSinceMs, queue.isEmpty, queue.isReady]).toEqual([null, true, false]);
  });

  it("gives up what is out and what waits, each once, and nothing that was acknowledged", () => {
    const [done, out, waits] = [queued(100), queued(100), queued(5)];
    const queue = filled(done, out, waits);
    queue.take();
    queue.acknowledge();
    queue.take();
    expect(queue.clear()).toEqual([out, waits]);
    expect([queue.isEmpty, queue.clear()]).toEqual([true, []]);
  });

  it("GC5: answers the record that is refused alone, and sends those of a refused batch one by one", () => {
    const [first, second, third] = [queued(1), queued(2), queued(3)];
    const queue = filled(first, second);
    queue.take();
    queue.push(third);
    expect(queue.refuse()).toBeNull();
    expect(queue.take().records).toEqual([first.record]);
    expect(queue.refuse()).toBe(first);
    expect(queue.take().records).toEqual([second.record]);
    queue.acknowledge();
    queue.push(queued(4));
    expect(queue.take().records.map(({ bytes }) => bytes)).toEqual([3, 4]);
  });

  it("GC2: keeps its order over thousands of records", () => {
    const queue = filled(...Array.from({ length: 10_000 }, (_, index) => queued(1, index)));
    const seen: number[] = [];
    while (!queue.isEmpty) {
      const { records } = queue.take();
      for (const { call, record } of queue.acknowledge()) seen.push(call.sinceMs + record.bytes - 1);
      expect(records.length).toBeLessThanOrEqual(3);
    }
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
  });
});
