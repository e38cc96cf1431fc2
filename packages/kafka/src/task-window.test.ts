import { expect, it } from "vitest";
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
