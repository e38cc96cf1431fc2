import { PosthasteError } from "@posthaste/core/errors";
import { decodeCommitMetadata } from "@posthaste/core/window/commit-metadata";
import { describe, expect, it, vi } from "vitest";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { MAX_SPAN, OwnedPartitionWindow } from "./partition-window.ts";
import { WorkingSetShare } from "./window-fill.ts";
import type { CheckpointedState, Task, WindowedConsumerOptions } from "./windowed-consumer.ts";

const record = (offset: number): IncomingRecord => ({
  topic: "t",
  partition: 0,
  offset,
  timestampMs: 0,
  key: null,
  value: null,
  headers: {},
});

/** A window whose tasks are kept, by offset, for the test to finish. */
function createWindow(offset = 0) {
  const tasks = new Map<number, Task<number>>();
  const onFinished = vi.fn();
  const onFailure = (reason: Error) => {
    throw reason;
  };
  const options = {
    groupId: "g",
    topics: ["t"],
    window: { maxRecords: 10, maxBytes: 1_000_000 },
    take: (taken: IncomingRecord) => taken.offset,
    laneOf: () => null,
    run: (task: Task<number>) => void tasks.set(task.item, task),
    ownerOf: () => "h",
    onFailure,
  };
  const window = new OwnedPartitionWindow<number, never>({ topic: "t", partition: 0 }, options, {
    onFinished,
    onChanged: () => undefined,
    onFailure,
    share: new WorkingSetShare(),
  });
  window.open(offset, null);
  return { window, tasks, onFinished };
}

describe("a task", () => {
  it("PW1: is finished once, however often it says so", () => {
    const { window, tasks, onFinished } = createWindow();
    for (const offset of [0, 1, 2]) window.takeIn({ ...record(offset), value: Buffer.alloc(100) });
    for (let time = 0; time < 3; time += 1) tasks.get(1)?.finish();
    expect([window.records, window.bytes, window.running, window.ownedBy("h")]).toEqual([2, 200, 2, 2]);
    expect([window.committableOffset, onFinished.mock.calls.length]).toEqual([0, 1]);
    tasks.get(0)?.finish();
    tasks.get(0)?.finish();
    expect([window.records, window.running, window.committableOffset]).toEqual([1, 1, 2]);
    expect(onFinished).toHaveBeenCalledTimes(2);
  });

  it("PW1: is not finished any more when its partition was given up: the next owner runs it again", () => {
    const { window, tasks, onFinished } = createWindow();
    for (const offset of [0, 1]) window.takeIn(record(offset));
    tasks.get(1)?.finish();
    const before = window.commitPoint(false);
    window.revoke();
    tasks.get(0)?.finish();
    expect([window.records, window.committableOffset]).toEqual([1, 0]);
    expect(window.commitPoint(false)).toBeNull();
    expect(window.commitPoint(true)).toEqual(before);
    expect(onFinished).toHaveBeenCalledOnce();
  });
});

describe("a partition that was gained", () => {
  it("C6: is due for a commit at once, though nothing of it was finished, until it has one", () => {
    const { window } = createWindow(41);
    expect(window.commitPoint(false)).toMatchObject({ topic: "t", partition: 0, offset: 41 });
    expect(window.commitPoint(false)).toBeNull();
    window.commitFailed();
    expect(window.commitPoint(false)).toMatchObject({ offset: 41 });
  });
});

it("C3: is full when a record that is stuck has half a million offsets above it, until it is finished", () => {
  let stuck: Task<number> | undefined;
  const options = {
    groupId: "g",
    topics: ["t"],
    window: { maxRecords: 10, maxBytes: 1_000_000 },
    take: ({ offset }: IncomingRecord) => offset,
    laneOf: () => null,
    run: (task: Task<number>) => {
      if (task.item === 0) stuck = task;
      else task.finish();
    },
    onFailure: (reason: Error) => {
      throw reason;
    },
  };
  const window = new OwnedPartitionWindow<number, never>({ topic: "t", partition: 0 }, options, {
    onFinished: () => undefined,
    onChanged: () => undefined,
    onFailure: options.onFailure,
    share: new WorkingSetShare(),
  });
  window.open(0, null);
  for (let offset = 0; offset < MAX_SPAN - 1; offset += 1) window.takeIn(record(offset));
  expect([window.records, window.isFull, window.committableOffset]).toEqual([1, false, 0]);
  window.takeIn(record(MAX_SPAN - 1));
  expect(window.isFull).toBe(true);
  stuck?.finish();
  expect([window.isFull, window.committableOffset]).toEqual([false, MAX_SPAN]);
});

/** A window whose tasks are noted as they start, and whose options may be other ones. */
function openWindow<F = never>(
  options: Partial<WindowedConsumerOptions<number, F>> = {},
  metadata: string | null = null,
) {
  const started: Task<number>[] = [];
  const failures: Error[] = [];
  const onFailure = (reason: Error) => void failures.push(reason);
  const onFinished = vi.fn();
  const onChanged = vi.fn();
  const window = new OwnedPartitionWindow<number, F>(
    { topic: "t", partition: 0 },
    {
      groupId: "g",
      topics: ["t"],
      window: { maxRecords: 3, maxBytes: 1000 },
      take: ({ offset }) => offset,
      laneOf: () => null,
      run: (task) => void started.push(task),
      onFailure,
      ...options,
    },
    { onFinished, onChanged, onFailure, share: new WorkingSetShare() },
  );
  window.open(0, metadata);
  const offsets = () => started.map(({ item }) => item);
  const finish = (offset: number) => started.find(({ item }) => item === offset)?.finish();
  return { window, started, failures, offsets, finish, onFinished, onChanged };
}

it("names the owner of its lowest unfinished record", () => {
  const { window, finish } = openWindow({ ownerOf: (offset) => `owner-${offset}` });
  expect(window.lowestOwner).toBeUndefined();
  for (const offset of [0, 1]) window.takeIn(record(offset));
  expect(window.lowestOwner).toBe("owner-0");
  finish(0);
  expect(window.lowestOwner).toBe("owner-1");
});

describe("the limits of a window", () => {
  it("PW3: is full by records or by bytes, and takes one record in however large it is", () => {
    const { window, finish } = openWindow();
    expect([window.isFull, window.maxRecords]).toEqual([false, 3]);
    window.takeIn({ ...record(0), key: Buffer.alloc(400), value: Buffer.alloc(599) });
    expect([window.isFull, window.bytes]).toEqual([false, 999]);
    window.takeIn({ ...record(1), value: Buffer.alloc(1) });
    expect(window.isFull).toBe(true);
    finish(0);
    expect([window.isFull, window.bytes]).toEqual([false, 1]);
    window.takeIn(record(2));
    expect(window.isFull).toBe(false);
    window.takeIn(record(3));
    expect([window.isFull, window.records]).toEqual([true, 3]);
    for (const offset of [1, 2, 3]) finish(offset);
    window.takeIn({ ...record(4), value: Buffer.alloc(5000) });
    expect(window.isFull).toBe(true);
    finish(4);
    expect(window.isFull).toBe(false);
  });

  it("C3: measures what stands above an unfinished record, wherever in the log that is", () => {
    const { window } = openWindow();
    window.open(7_000_000, null);
    window.takeIn(record(7_000_000));
    expect(window.isFull).toBe(false);
    window.skipTo(7_000_000 + MAX_SPAN);
    expect(window.isFull).toBe(true);
  });

  it("is counted by whom its records belong to", () => {
    const { window, finish } = openWindow({ ownerOf: (offset) => (offset % 3 === 0 ? "a" : "b") });
    for (const offset of [0, 1, 2, 3, 4]) window.takeIn(record(offset));
    expect([window.ownedBy("a"), window.ownedBy("b"), window.ownedBy("c")]).toEqual([2, 3, 0]);
    for (const offset of [0, 4, 1, 2]) finish(offset);
    expect([window.ownedBy("a"), window.ownedBy("b")]).toEqual([1, 0]);
    window.takeIn(record(5));
    window.takeIn(record(6));
    expect([window.ownedBy("a"), window.ownedBy("b")]).toEqual([2, 1]);
  });

  it("knows when the lowest of its unfinished records was written", () => {
    const { window, finish } = openWindow();
    expect(window.lowestTimestampMs).toBeNull();
    for (const offset of [0, 1]) window.takeIn({ ...record(offset), timestampMs: 100 + offset });
    expect(window.lowestTimestampMs).toBe(100);
    finish(0);
    expect(window.lowestTimestampMs).toBe(101);
  });
});

describe("a window that is frozen", () => {
  it("PW2: starts nothing, not even what a finished task let go, until it thaws", () => {
    const { window, offsets, finish } = openWindow({ laneOf: (offset) => (offset < 2 ? "lane" : null) });
    for (const offset of [0, 1]) window.takeIn(record(offset));
    window.freeze();
    window.takeIn(record(2));
    finish(0);
    expect([offsets(), window.running]).toEqual([[0], 0]);
    window.thaw();
    expect([offsets(), window.running]).toEqual([[0, 2, 1], 2]);
    window.takeIn(record(3));
    expect(offsets()).toEqual([0, 2, 1, 3]);
  });

  it("PW2: starts none of what was about to start when it froze, and each once when it thaws", () => {
    const started: number[] = [];
    const { window } = openWindow({
      run: ({ item }) => {
        started.push(item);
        if (item === 1) window.freeze();
      },
    });
    window.freeze();
    for (const offset of [0, 1, 2]) window.takeIn(record(offset));
    window.thaw();
    expect(started).toEqual([0, 1]);
    window.thaw();
    expect(started).toEqual([0, 1, 2]);
    window.takeIn(record(3));
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it("PW1: starts nothing any more when it was given up", () => {
    const { window, offsets } = openWindow();
    window.freeze();
    window.takeIn(record(0));
    window.revoke();
    window.thaw();
    window.takeIn(record(1));
    expect([offsets(), window.isRevoked]).toEqual([[], true]);
  });

  it("runs a lane of twenty thousand tasks that finish as they start", () => {
    let count = 0;
    const { window } = openWindow({
      laneOf: () => "lane",
      run: (task) => {
        count += 1;
        task.finish();
      },
    });
    window.freeze();
    for (let offset = 0; offset < 20_000; offset += 1) window.takeIn(record(offset));
    window.thaw();
    expect([count, window.committableOffset, window.records]).toEqual([20_000, 20_000, 0]);
  });
});

describe("a handler", () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  it("finishes its task when its promise resolves, and ends the consumer when that rejects", async () => {
    const works = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { window, failures } = openWindow({ run: ({ item }) => works[item]?.promise });
    for (const offset of [0, 1]) window.takeIn(record(offset));
    works[0]?.resolve();
    await turn();
    expect([window.committableOffset, window.running]).toEqual([1, 1]);
    const bug = new Error("a bug");
    works[1]?.reject(bug);
    await turn();
    expect([window.committableOffset, window.running]).toEqual([1, 1]);
    expect(failures).toMatchObject([
      { code: "internal", message: "running a task of t partition 0 failed", cause: bug },
    ]);
  });

  it("ends the consumer when it throws, with what it threw where that says what it is", () => {
    const closed = new PosthasteError("closed", "it is closed");
    const { window, failures } = openWindow({
      run: () => {
        throw closed;
      },
    });
    window.takeIn(record(0));
    expect(failures).toEqual([closed]);
  });

  it("ends nothing for what fails of a partition that was given up", async () => {
    const work = Promise.withResolvers<void>();
    const { window, failures } = openWindow({ run: () => work.promise });
    window.takeIn(record(0));
    window.revoke();
    work.reject(new Error("a bug"));
    await turn();
    expect(failures).toEqual([]);
  });
});

describe("what a commit says", () => {
  it("C1: names what finished above the committable offset, which the next owner does not run again", () => {
    const { window, finish } = openWindow();
    for (const offset of [0, 1, 2]) window.takeIn(record(offset));
    finish(1);
    const point = window.commitPoint(false);
    expect(point?.offset).toBe(0);
    const next = openWindow({}, point?.metadata ?? null);
    for (const offset of [0, 1, 2]) next.window.takeIn(record(offset));
    expect(next.offsets()).toEqual([0, 2]);
    next.finish(0);
    expect(next.window.committableOffset).toBe(2);
  });

  it("is said again only where something changed: a task finished, or offsets were passed over", () => {
    const { window, finish } = openWindow();
    window.commitPoint(false);
    window.takeIn(record(0));
    expect(window.commitPoint(false)).toBeNull();
    finish(0);
    expect(window.commitPoint(false)).toMatchObject({ offset: 1 });
    window.skipTo(1);
    expect(window.commitPoint(false)).toBeNull();
    window.skipTo(5);
    expect(window.commitPoint(false)).toMatchObject({ offset: 5 });
    expect(window.commitPoint(true)).toMatchObject({ offset: 5 });
  });

  it("is told of once, when there is something new to say: at the start, a task finished, or a commit failed", () => {
    // K4 of committer.ts.
    const { window, finish, onChanged } = openWindow();
    const reported = () => onChanged.mock.calls.length;
    expect(reported()).toBe(1);
    window.commitPoint(false);
    for (const offset of [0, 1]) window.takeIn(record(offset));
    expect(reported()).toBe(1);
    finish(0);
    finish(1);
    expect(reported()).toBe(2);
    window.commitPoint(false);
    window.commitFailed();
    window.commitFailed();
    expect(reported()).toBe(3);
    window.commitPoint(false);
    window.skipTo(5);
    expect(reported()).toBe(4);
  });

  it("says in each commit of which topic it is, by Kafka's own id, where there is one", () => {
    const hooks = { onFinished: () => {}, onChanged: () => {}, onFailure: () => {}, share: new WorkingSetShare() };
    const options = { take: () => 0, laneOf: () => null, run: () => {}, onFailure: () => {} };
    const limits = { groupId: "g", topics: ["t"], window: { maxRecords: 1, maxBytes: 1 } };
    const topicIdOf = (topicId: string | undefined) => {
      const place = { topic: "t", partition: 0, topicId };
      const window = new OwnedPartitionWindow<number, never>(place, { ...limits, ...options }, hooks);
      return decodeCommitMetadata(0, window.commitPoint(true)?.metadata ?? null).topicId;
    };
    expect(topicIdOf(undefined)).toBeNull();
    expect(topicIdOf("topic-1")).toBe("topic-1");
  });

  it("PW4, D2: checkpoints the records below the commit, and finishes repeats of any record unrun", () => {
    class Seen implements CheckpointedState<number> {
      readonly #values: Set<number>;
      constructor(text: string | null) {
        this.#values = new Set(text?.split(",").filter(Boolean).map(Number));
      }
      isRepeat = (value: number) => this.#values.has(value);
      note = (value: number) => void this.#values.add(value);
      encode = () => [...this.#values].join(",");
    }
    const repeats: number[] = [];
    const options: Partial<WindowedConsumerOptions<number, number>> = {
      window: { maxRecords: 100, maxBytes: 1000 },
      checkpoint: { pick: (offset) => offset % 4, condense: (values) => [...values], open: (text) => new Seen(text) },
      onRepeat: (item) => void repeats.push(item),
    };
    const { window, offsets, finish } = openWindow(options);
    for (const offset of [0, 1, 2, 4]) window.takeIn(record(offset));
    expect([offsets(), repeats, window.records]).toEqual([[0, 1, 2], [4], 3]);
    finish(0);
    finish(2);
    const point = window.commitPoint(true);
    expect(point).toMatchObject({ offset: 1 });
    expect(decodeCommitMetadata(1, point?.metadata ?? null).state).toBe("0");
    // The next owner knows the passed records, and learns the rest as it takes it in, finished records too.
    const next = openWindow(options);
    next.window.open(1, point?.metadata ?? null);
    for (const offset of [1, 2, 4, 6, 7]) next.window.takeIn(record(offset));
    expect([next.offsets(), repeats]).toEqual([
      [1, 7],
      [4, 4, 6],
    ]);
  });
});
