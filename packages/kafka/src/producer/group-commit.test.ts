import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GroupCommitQueue } from "./group-commit.ts";
import type { PartitionBatch, PartitionQueue, PlacedRecord } from "./partition-queue.ts";

const record = (value: string, partition = 0, bytes = 10, topic = "t"): PlacedRecord => ({
  topic,
  partition,
  key: null,
  value: Buffer.from(value),
  bytes,
});
const valuesOf = ({ records }: PartitionBatch) => records.map(({ value }) => String(value));

function createQueue(limits: { maxRecords?: number; maxBytes?: number } = {}): GroupCommitQueue {
  return new GroupCommitQueue({ maxRecords: 1000, maxBytes: 1_000_000, ...limits });
}

const readyOf = (queue: GroupCommitQueue): PartitionQueue[] => [...queue.ready];

/** Takes the batch of every partition that is ready. */
function takeAll(queue: GroupCommitQueue): (readonly [PartitionQueue, string[]])[] {
  return readyOf(queue).map((ready) => [ready, valuesOf(queue.take(ready))] as const);
}

/** The one partition that is ready. */
function onlyReady(queue: GroupCommitQueue): PartitionQueue {
  const [ready, another] = readyOf(queue);
  if (ready === undefined || another !== undefined) throw new Error("not one partition is ready");
  return ready;
}

describe("group commit", () => {
  it("P1: has one batch of a partition out and sends what came meanwhile together in the next one", () => {
    const queue = createQueue();
    void queue.push([record("a")], 0);
    const partition = onlyReady(queue);
    expect(valuesOf(queue.take(partition))).toEqual(["a"]);
    void queue.push([record("b")], 1);
    void queue.push([record("c")], 2);
    expect(readyOf(queue)).toEqual([]);
    queue.acknowledge(partition);
    expect(valuesOf(queue.take(onlyReady(queue)))).toEqual(["b", "c"]);
  });

  it("P1: offers the other partitions while one has a batch out", () => {
    const queue = createQueue();
    void queue.push([record("a", 0)], 0);
    queue.take(onlyReady(queue));
    void queue.push([record("b", 0), record("c", 1)], 1);
    expect(takeAll(queue).map(([, values]) => values)).toEqual([["c"]]);
  });

  it("P2: sends a failed batch again, as it was, before anything else of its partition", () => {
    const queue = createQueue();
    void queue.push([record("a"), record("b")], 0);
    const partition = onlyReady(queue);
    queue.take(partition);
    void queue.push([record("c")], 1);
    queue.fail(partition);
    expect(valuesOf(queue.take(onlyReady(queue)))).toEqual(["a", "b"]);
    queue.acknowledge(partition);
    expect(valuesOf(queue.take(onlyReady(queue)))).toEqual(["c"]);
  });

  it("GC3: settles a call when the last of its records is acknowledged", async () => {
    const queue = createQueue();
    const settled: string[] = [];
    const call = queue.push([record("a", 0), record("b", 1)], 0).then(() => settled.push("call"));
    const [[first], [second]] = takeAll(queue) as [[PartitionQueue, string[]], [PartitionQueue, string[]]];
    queue.acknowledge(first);
    await Promise.resolve();
    expect(settled).toEqual([]);
    queue.acknowledge(second);
    await call;
    expect([settled, queue.isEmpty, queue.pendingBytes]).toEqual([["call"], true, 0]);
  });

  it("resolves a call of no records at once", async () => {
    await createQueue().push([], 0);
  });

  it("GC4: ends a batch before the first record that would exceed its limits", () => {
    const queue = createQueue({ maxBytes: 25 });
    void queue.push([record("a", 0), record("b", 1), record("c", 0), record("d", 0), record("e", 1)], 0);
    expect(takeAll(queue).map(([, values]) => values)).toEqual([
      ["a", "c"],
      ["b", "e"],
    ]);
  });

  it("GC4: sends a record that is larger than the limit alone", () => {
    const queue = createQueue({ maxBytes: 25 });
    void queue.push([record("huge", 0, 1000), record("b", 0)], 0);
    const partition = onlyReady(queue);
    expect(valuesOf(queue.take(partition))).toEqual(["huge"]);
    queue.acknowledge(partition);
    expect(valuesOf(queue.take(partition))).toEqual(["b"]);
  });

  it("GC5: refuses the record that the broker refuses and sends the others of its partition, in order", async () => {
    const queue = createQueue();
    const good = queue.push([record("a"), record("b")], 0);
    const bad = queue.push([record("bad")], 0);
    const later = queue.push([record("c")], 0);
    const sent: string[][] = [];
    for (let [ready] = queue.ready; ready !== undefined; [ready] = queue.ready) {
      const values = valuesOf(queue.take(ready));
      if (values.includes("bad")) {
        queue.refuse(ready, new Error("too large"));
      } else {
        sent.push(values);
        queue.acknowledge(ready);
      }
    }
    await expect(bad).rejects.toThrow("too large");
    await Promise.all([good, later]);
    expect(sent).toEqual([["a"], ["b"], ["c"]]);
    expect(queue.pendingBytes).toBe(0);
  });

  it("GC6: offers the partition first that became ready first", () => {
    const queue = createQueue({ maxRecords: 1 });
    void queue.push([record("a", 2), record("b", 2), record("c", 0), record("d", 1)], 0);
    const [first] = readyOf(queue) as [PartitionQueue];
    queue.take(first);
    queue.acknowledge(first);
    expect(readyOf(queue).map(({ partition }) => partition)).toEqual([0, 1, 2]);
  });

  it("tells since when its oldest call waits, in all and in a partition", () => {
    const queue = createQueue();
    expect(queue.oldestSinceMs).toBeNull();
    void queue.push([record("a", 0)], 5);
    void queue.push([record("b", 1)], 9);
    expect([queue.oldestSinceMs, queue.oldestSinceMsOf("t", 1), queue.oldestSinceMsOf("t", 2)]).toEqual([5, 9, null]);
    const [[first]] = takeAll(queue) as [[PartitionQueue, string[]]];
    expect(queue.oldestSinceMs).toBe(5);
    queue.acknowledge(first);
    expect(queue.oldestSinceMs).toBe(9);
    expect(queue.oldestSinceMsOf("another topic", 0)).toBeNull();
  });

  it("tells since when its oldest call waits where that is in a partition that came to have records later", () => {
    const queue = createQueue({ maxRecords: 1 });
    void queue.push([record("a", 0)], 5);
    void queue.push([record("b", 1)], 9);
    void queue.push([record("c", 0)], 20);
    const [[first]] = takeAll(queue) as [[PartitionQueue, string[]]];
    queue.acknowledge(first);
    expect([queue.oldestSinceMs, queue.oldestSinceMsOf("t", 0)]).toEqual([9, 20]);
  });

  it("gives up what is out and what waits when everything is rejected", async () => {
    const queue = createQueue({ maxRecords: 1 });
    const calls = [queue.push([record("a")], 0), queue.push([record("b", 1)], 0), queue.push([record("c", 1)], 0)];
    takeAll(queue);
    queue.rejectAll(new Error("closed"));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect([queue.isEmpty, queue.pendingBytes, readyOf(queue)]).toEqual([true, 0, []]);
  });
});

const LIMITS = { maxRecords: 3, maxBytes: 60 };
const PARTITIONS = [0, 1, 2];

type Step =
  | { readonly push: readonly { readonly partition: number; readonly bytes: number }[] }
  | { readonly take: number }
  | { readonly end: number; readonly as: "acknowledged" | "failed" | "refused" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    push: fc.array(fc.record({ partition: fc.nat(2), bytes: fc.integer({ min: 1, max: 80 }) }), { maxLength: 5 }),
  }),
  fc.record({ take: fc.nat(2) }),
  fc.record({ end: fc.nat(2), as: fc.constantFrom("acknowledged", "failed", "refused") }),
);

/** The queue beside the simplest thing that could be right: a list a partition, and how much of its front is out. */
class ModelledQueue {
  readonly queue = new GroupCommitQueue(LIMITS);
  readonly lists = PARTITIONS.map((): { value: string; bytes: number }[] => []);
  readonly out = PARTITIONS.map((): string[] | null => null);
  /** The batch that failed, which is the next again. */
  readonly again = PARTITIONS.map((): string[] | null => null);
  readonly acknowledged = PARTITIONS.map((): string[] => []);
  readonly refused = PARTITIONS.map((): string[] => []);
  readonly handles = new Map<number, PartitionQueue>();
  readonly calls: Promise<unknown>[] = [];
  count = 0;

  run(next: Step): void {
    if ("push" in next) this.push(next.push);
    else if ("take" in next) this.take(next.take);
    else this.end(next.end, next.as);
    this.check();
  }

  push(records: readonly { readonly partition: number; readonly bytes: number }[]): void {
    const placed = records.map(({ partition, bytes }) => {
      const value = String(this.count++);
      this.lists[partition]?.push({ value, bytes });
      return record(value, partition, bytes);
    });
    this.calls.push(this.queue.push(placed, 0).catch(() => "refused"));
  }

  take(partition: number): void {
    const ready = readyOf(this.queue).find((each) => each.partition === partition);
    if (ready === undefined) return;
    this.handles.set(partition, ready);
    const batch = this.queue.take(ready);
    const values = valuesOf(batch);
    expect(this.out[partition]).toBeNull();
    // In order, nothing left out, and failed records are sent again unchanged.
    expect(values).toEqual(this.lists[partition]?.slice(0, values.length).map(({ value }) => value));
    if (this.again[partition] != null) expect(values).toEqual(this.again[partition]);
    expect(values.length).toBeGreaterThan(0);
    expect(values.length).toBeLessThanOrEqual(LIMITS.maxRecords);
    if (values.length > 1) expect(batch.bytes).toBeLessThanOrEqual(LIMITS.maxBytes);
    this.out[partition] = values;
  }

  end(partition: number, as: "acknowledged" | "failed" | "refused"): void {
    const handle = this.handles.get(partition);
    const values = this.out[partition];
    if (handle === undefined || values == null) return;
    this.out[partition] = null;
    this.again[partition] = as === "failed" ? values : null;
    if (as === "failed") this.queue.fail(handle);
    else if (as === "acknowledged") {
      this.queue.acknowledge(handle);
      this.acknowledged[partition]?.push(...values);
      this.lists[partition]?.splice(0, values.length);
    } else {
      this.queue.refuse(handle, new Error("refused"));
      if (values.length === 1)
        this.refused[partition]?.push(...(this.lists[partition]?.splice(0, 1) ?? []).map(({ value }) => value));
    }
  }

  check(): void {
    const waiting = PARTITIONS.filter((partition) => this.lists[partition]?.length && this.out[partition] === null);
    expect(
      readyOf(this.queue)
        .map(({ partition }) => partition)
        .sort(),
    ).toEqual(waiting);
    expect(this.queue.pendingBytes).toBe(this.lists.flat().reduce((sum, { bytes }) => sum + bytes, 0));
    expect(this.queue.isEmpty).toBe(this.lists.flat().length === 0);
  }

  async drain(): Promise<void> {
    while (!this.queue.isEmpty) {
      for (const partition of PARTITIONS) {
        this.take(partition);
        this.end(partition, "acknowledged");
      }
    }
    await Promise.all(this.calls);
  }
}

it("keeps each partition's order with one batch out, loses nothing and settles every call", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
    const modelled = new ModelledQueue();
    for (const each of steps) modelled.run(each);
    await modelled.drain();
    const given = modelled.count;
    expect(modelled.acknowledged.flat().length + modelled.refused.flat().length).toBe(given);
    for (const values of modelled.acknowledged)
      expect(values).toEqual(values.toSorted((a, b) => Number(a) - Number(b)));
    expect(modelled.queue.pendingBytes).toBe(0);
  });
  await fc.assert(property, { numRuns: 500 });
});
