import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Batch, GroupCommitQueue, type PlacedRecord } from "./group-commit.ts";

const record = (value: string, partition = 0, bytes = 10, topic = "t"): PlacedRecord => ({
  topic,
  partition,
  key: null,
  value: Buffer.from(value),
  bytes,
});
const everything = () => true;
const valuesOf = (batch: Batch | null) =>
  [...(batch ?? [])].flatMap(([, records]) => records.map(({ value }) => String(value)));

function createQueue(limits: { maxRecords?: number; maxBytes?: number } = {}): GroupCommitQueue {
  return new GroupCommitQueue({ maxRecords: 1000, maxBytes: 1_000_000, ...limits });
}

describe("group commit", () => {
  it("P1: sends what came while a batch was out together in the next one", () => {
    const queue = createQueue();
    void queue.push([record("a")], 0);
    expect(valuesOf(queue.next())).toEqual(["a"]);
    void queue.push([record("b")], 1);
    void queue.push([record("c")], 2);
    expect(valuesOf(queue.next())).toEqual(["a"]);
    queue.acknowledge(everything);
    expect(valuesOf(queue.next())).toEqual(["b", "c"]);
  });

  it("P2: sends the rest of a failed batch again before anything else", () => {
    const queue = createQueue();
    void queue.push([record("a", 0), record("b", 1), record("c", 0)], 0);
    queue.next();
    void queue.push([record("d", 0)], 1);
    expect(queue.acknowledge((_, partition) => partition === 0)).toBe(1);
    expect(valuesOf(queue.next())).toEqual(["b"]);
    queue.acknowledge(everything);
    expect(valuesOf(queue.next())).toEqual(["d"]);
  });

  it("G3: settles a call when the last of its records is acknowledged", async () => {
    const queue = createQueue({ maxRecords: 1 });
    const settled: string[] = [];
    const first = queue.push([record("a"), record("b")], 0).then(() => settled.push("first"));
    queue.next();
    queue.acknowledge(everything);
    await Promise.resolve();
    expect(settled).toEqual([]);
    queue.next();
    queue.acknowledge(everything);
    await first;
    expect(settled).toEqual(["first"]);
    expect(queue.isEmpty).toBe(true);
    expect(queue.pendingBytes).toBe(0);
  });

  it("resolves a call of no records at once", async () => {
    await createQueue().push([], 0);
  });

  it("G4: ends a batch before the first record that its partition has no room for", () => {
    const queue = createQueue({ maxBytes: 25 });
    void queue.push([record("a", 0), record("b", 1), record("c", 0), record("d", 0), record("e", 1)], 0);
    expect(valuesOf(queue.next())).toEqual(["a", "b", "c"]);
  });

  it("G4: sends a record that is larger than the limit as its partition's only one", () => {
    const queue = createQueue({ maxBytes: 25 });
    void queue.push([record("huge", 0, 1000), record("b", 0)], 0);
    expect(valuesOf(queue.next())).toEqual(["huge"]);
    queue.acknowledge(everything);
    expect(valuesOf(queue.next())).toEqual(["b"]);
  });

  it("G5: refuses the one record that the broker refuses and sends the others, in order", async () => {
    const queue = createQueue();
    const good = queue.push([record("a"), record("b")], 0);
    const bad = queue.push([record("bad")], 0);
    const later = queue.push([record("c")], 0);
    const sent: string[] = [];
    for (let batch = queue.next(); batch !== null; batch = queue.next()) {
      const values = valuesOf(batch);
      if (values.includes("bad")) {
        queue.refuse(new Error("too large"));
      } else {
        sent.push(...values);
        queue.acknowledge(everything);
      }
    }
    await expect(bad).rejects.toThrow("too large");
    await Promise.all([good, later]);
    expect(sent).toEqual(["a", "b", "c"]);
    expect(queue.pendingBytes).toBe(0);
  });

  it("tells since when its oldest call waits", () => {
    const queue = createQueue();
    expect(queue.oldestSinceMs).toBeNull();
    void queue.push([record("a")], 5);
    void queue.push([record("b")], 9);
    expect(queue.oldestSinceMs).toBe(5);
    queue.next();
    expect(queue.oldestSinceMs).toBe(5);
    queue.acknowledge(everything);
    expect(queue.oldestSinceMs).toBeNull();
  });

  it("gives up what is out and what waits when everything is rejected", async () => {
    const queue = createQueue({ maxRecords: 1 });
    const calls = [queue.push([record("a")], 0), queue.push([record("b")], 0)];
    queue.next();
    queue.rejectAll(new Error("closed"));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(queue.isEmpty).toBe(true);
  });

  it("keeps order within a partition, loses nothing and settles every call once, whatever is acknowledged when", async () => {
    const calls = fc.array(
      fc.array(fc.record({ partition: fc.nat(2), bytes: fc.integer({ min: 1, max: 40 }) }), { maxLength: 5 }),
      {
        maxLength: 30,
      },
    );
    // Of each try: which partitions are acknowledged. When the list is used up, all are.
    const tries = fc.array(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), { maxLength: 40 });
    const property = fc.asyncProperty(calls, tries, async (given, outcomes) => {
      const queue = createQueue({ maxRecords: 3, maxBytes: 60 });
      const written: Record<number, string[]> = { 0: [], 1: [], 2: [] };
      const expected: Record<number, string[]> = { 0: [], 1: [], 2: [] };
      let count = 0;
      const promises = given.map((records) =>
        queue.push(
          records.map(({ partition, bytes }) => {
            const value = String(count++);
            expected[partition]?.push(value);
            return record(value, partition, bytes);
          }),
          0,
        ),
      );
      const left = [...outcomes];
      for (let batch = queue.next(); batch !== null; batch = queue.next()) {
        const outcome = left.shift() ?? [true, true, true];
        for (const sent of batch.get("t") ?? [])
          if (outcome[sent.partition]) written[sent.partition]?.push(String(sent.value));
        for (const partition of [0, 1, 2]) {
          const sizes = (batch.get("t") ?? []).filter((sent) => sent.partition === partition);
          expect(sizes.length).toBeLessThanOrEqual(3);
        }
        queue.acknowledge((_, partition) => outcome[partition] ?? true);
      }
      await Promise.all(promises);
      expect(written).toEqual(expected);
      expect(queue.pendingBytes).toBe(0);
    });
    await fc.assert(property);
  });
});
