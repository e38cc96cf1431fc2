import { describe, expect, it, vi } from "vitest";
import type { IncomingRecord } from "./incoming-record.ts";
import { MAX_SPAN, TaskWindow } from "./task-window.ts";
import type { Task } from "./window.ts";

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
    holderOf: () => "h",
    onFailure,
  };
  const window = new TaskWindow<number, never>({ topic: "t", partition: 0 }, options, { onFinished, onFailure });
  window.open(offset, null);
  return { window, tasks, onFinished };
}

describe("a task", () => {
  it("Q1: is finished once, however often it says so", () => {
    const { window, tasks, onFinished } = createWindow();
    for (const offset of [0, 1, 2]) window.takeIn({ ...record(offset), value: Buffer.alloc(100) });
    for (let time = 0; time < 3; time += 1) tasks.get(1)?.finish();
    expect([window.records, window.bytes, window.running, window.heldBy("h")]).toEqual([2, 200, 2, 2]);
    expect([window.committableOffset, onFinished.mock.calls.length]).toEqual([0, 1]);
    tasks.get(0)?.finish();
    tasks.get(0)?.finish();
    expect([window.records, window.running, window.committableOffset]).toEqual([1, 1, 2]);
    expect(onFinished).toHaveBeenCalledTimes(2);
  });

  it("Q1: is not finished any more when its partition was given up: the next owner runs it again", () => {
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
  const window = new TaskWindow<number, never>({ topic: "t", partition: 0 }, options, {
    onFinished: () => undefined,
    onFailure: options.onFailure,
  });
  window.open(0, null);
  for (let offset = 0; offset < MAX_SPAN - 1; offset += 1) window.takeIn(record(offset));
  expect([window.records, window.isFull, window.committableOffset]).toEqual([1, false, 0]);
  window.takeIn(record(MAX_SPAN - 1));
  expect(window.isFull).toBe(true);
  stuck?.finish();
  expect([window.isFull, window.committableOffset]).toEqual([false, MAX_SPAN]);
});
