import { PosthasteError } from "@posthaste/core/errors";
import type { KafkaMessage } from "kafkajs";
import { describe, expect, it, vi } from "vitest";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { PartitionIntake } from "./partition-intake.ts";
import type { Task, WindowedConsumerOptions } from "./windowed-consumer.ts";

it("C7: has nothing to fetch while its partition has no leader, so that its group does not count as stalled", () => {
  const options = { take: () => "", laneOf: () => null, run: () => {}, window: { maxRecords: 10, maxBytes: 1000 } };
  const runner = new PartitionIntake<string, never>(
    { topic: "t", partition: 0 },
    { ...options, groupId: "g", topics: ["t"], onFailure: () => {} },
    { pause: () => {}, resume: () => {}, seek: () => {} },
    { clock: { nowMs: () => 0, monotonicMs: () => 0 }, onFailure: () => {}, onIdle: () => {} },
  );
  runner.begin(0, null);
  runner.noteEnd(5);
  expect(runner.hasNothingToFetch).toBe(false);
  runner.noteLeader(false);
  expect(runner.hasNothingToFetch).toBe(true);
  runner.noteLeader(true);
  expect(runner.hasNothingToFetch).toBe(false);
});

it("PI4: what is taken in shares no memory with what was fetched", () => {
  const taken: IncomingRecord[] = [];
  const options: WindowedConsumerOptions<null> = {
    groupId: "g",
    topics: ["t"],
    window: { maxRecords: 10, maxBytes: 1_000_000 },
    take: (record) => {
      taken.push(record);
      return null;
    },
    laneOf: () => null,
    run: () => undefined,
    onFailure: (reason) => {
      throw reason;
    },
  };
  const fetch = { pause: () => undefined, resume: () => undefined, seek: () => undefined };
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const hooks = { clock, onFailure: options.onFailure, onIdle: () => undefined };
  const runner = new PartitionIntake({ topic: "t", partition: 0 }, options, fetch, hooks);
  runner.begin(0, null);
  // As kafkajs hands it over: views of a whole fetch, which a record that waits must not keep.
  const fetched = Buffer.alloc(19, "-key-value-one-two-");
  const [key, value, one, two] = [
    fetched.subarray(1, 4),
    fetched.subarray(5, 10),
    fetched.subarray(11, 14),
    fetched.subarray(15, 18),
  ];
  const message = { offset: "0", timestamp: "0", attributes: 0, key, value, headers: { one, both: [one, two] } };
  runner.accept({ messages: [message], fetchedFrom: 0, lastOffset: 0, endOffset: 1 });
  fetched.fill("x");
  const [record] = taken;
  expect([String(record?.key), String(record?.value)]).toEqual(["key", "value"]);
  expect(record?.headers).toEqual({ one: "one", both: ["one", "two"] });
  for (const bytes of [record?.key, record?.value]) expect(bytes?.buffer).not.toBe(fetched.buffer);
});

it("PI2: takes nothing in and fetches nothing while backpressure holds, goes on where it stood, and asks before each record", () => {
  const fetching: string[] = [];
  const ran: string[] = [];
  let space = 2;
  const options = {
    groupId: "g",
    topics: ["t"],
    window: { maxRecords: 10, maxBytes: 1000 },
    take: ({ value }: { readonly value: Buffer | null }) => String(value),
    laneOf: () => null,
    run: ({ item }: Task<string>) => {
      ran.push(item);
      space -= 1;
    },
    backpressure: {
      get isHolding() {
        return space <= 0;
      },
      onReleased: () => {},
    },
    onFailure: () => {},
  };
  const runner = new PartitionIntake<string, never>(
    { topic: "t", partition: 0 },
    options,
    { pause: () => fetching.push("pause"), resume: () => fetching.push("resume"), seek: () => {} },
    { clock: { nowMs: () => 0, monotonicMs: () => 0 }, onFailure: () => {}, onIdle: () => {} },
  );
  runner.begin(0, null);
  const messages = [0, 1, 2, 3, 4].map((offset) => messageAt(offset, Buffer.from(String(offset))));
  runner.accept({ messages, fetchedFrom: 0, lastOffset: 4, endOffset: 5 });
  expect([ran, fetching]).toEqual([
    ["0", "1"],
    ["resume", "pause"],
  ]);
  space = 1;
  runner.release();
  expect([ran.length, fetching.at(-1)]).toEqual([3, "pause"]);
  space = 9;
  runner.release();
  expect([ran, fetching.at(-1)]).toEqual([["0", "1", "2", "3", "4"], "resume"]);
});

/** A message as kafkajs fetches it, without headers. */
function messageAt(offset: number, value: Buffer | null = null, timestamp = "7"): KafkaMessage {
  return { offset: String(offset), timestamp, key: null, value, attributes: 0 } as unknown as KafkaMessage;
}

/** A runner of a partition that begins at 0, and what it asked of kafkajs's consumer. */
function openRunner(options: Partial<WindowedConsumerOptions<number>> = {}, begins = true) {
  const asked: string[] = [];
  const ran: Task<number>[] = [];
  const failures: Error[] = [];
  let idle = 0;
  const onFailure = (reason: Error) => void failures.push(reason);
  const runner = new PartitionIntake<number, never>(
    { topic: "t", partition: 0 },
    {
      groupId: "g",
      topics: ["t"],
      window: { maxRecords: 4, maxBytes: 1_000_000 },
      take: ({ offset }) => offset,
      laneOf: () => null,
      run: (task) => void ran.push(task),
      onFailure,
      ...options,
    },
    {
      pause: () => asked.push("pause"),
      resume: () => asked.push("resume"),
      seek: (offset) => asked.push(`seek ${offset}`),
    },
    {
      clock: { nowMs: () => performance.now(), monotonicMs: () => performance.now() },
      onFailure,
      onIdle: () => {
        idle += 1;
      },
    },
  );
  if (begins) runner.begin(0, null);
  const accept = (from: number, count: number, more: { timestamp?: string; end?: number; lastOffset?: number } = {}) =>
    runner.accept({
      messages: Array.from({ length: count }, (_, index) => messageAt(from + index, null, more.timestamp)),
      fetchedFrom: from,
      lastOffset: more.lastOffset ?? from + count - 1,
      endOffset: more.end ?? 1000,
    });
  return {
    runner,
    accept,
    asked: () => asked.splice(0),
    ran: () => ran.map(({ item }) => item),
    finish: (offset: number) => ran.find(({ item }) => item === offset)?.finish(),
    failures,
    idle: () => idle,
  };
}

describe("the intake of a partition", () => {
  it("PI2: takes nothing before its place is known, and fetches from there", () => {
    const { runner, accept, asked, ran } = openRunner({}, false);
    expect([runner.isLocating, accept(0, 1), ran(), asked()]).toEqual([true, false, [], []]);
    expect([runner.commitPoint(true), runner.hasNothingToFetch]).toEqual([null, true]);
    runner.begin(3, null);
    expect([runner.isLocating, asked()]).toEqual([false, ["seek 3", "resume"]]);
    expect(accept(3, 1)).toBe(true);
    expect(ran()).toEqual([3]);
  });

  it("PI1: refuses once what was fetched from above, and passes over what it has had", () => {
    const { accept, asked, ran, runner } = openRunner();
    accept(0, 2);
    asked();
    expect([accept(0, 2), accept(1, 2), ran()]).toEqual([true, true, [0, 1, 2]]);
    expect([accept(5, 1), asked(), ran()]).toEqual([false, ["seek 3"], [0, 1, 2]]);
    // kafkajs went on behind what is no record: there is nothing between.
    expect([accept(5, 1), asked(), ran()]).toEqual([true, [], [0, 1, 2, 5]]);
    expect(runner.endOffset).toBe(1000);
    expect([accept(9, 1), asked()]).toEqual([false, ["seek 6"]]);
  });

  it("C9: passes over offsets that hold no record where they begin at its place, and are at the end of a fetch", () => {
    const { runner, accept, finish } = openRunner();
    runner.skip(0, 4);
    expect(runner.committableOffset).toBe(5);
    runner.skip(7, 8);
    expect(runner.committableOffset).toBe(5);
    accept(5, 1, { lastOffset: 9 });
    expect(runner.committableOffset).toBe(5);
    finish(5);
    expect(runner.committableOffset).toBe(10);
    runner.freeze();
    runner.skip(10, 20);
    runner.keep();
    expect(runner.committableOffset).toBe(10);
  });

  it("PI2: fetches on while the backlog is less than half a window, and says once that the window is full", () => {
    const full: number[] = [];
    const { accept, asked, ran, finish } = openRunner({ onFull: ({ records }) => void full.push(records) });
    asked();
    accept(0, 6);
    expect([ran(), asked(), full]).toEqual([[0, 1, 2, 3], [], [4]]);
    accept(6, 1);
    expect([asked(), full]).toEqual([["pause"], [4]]);
    finish(2);
    expect([ran(), asked(), full]).toEqual([[0, 1, 2, 3, 4], ["resume"], [4]]);
    for (const offset of [0, 1, 3]) finish(offset);
    expect([ran(), full]).toEqual([[0, 1, 2, 3, 4, 5, 6], [4]]);
    accept(7, 4);
    expect(full).toEqual([4, 4]);
  });

  it("PI3, C5: takes nothing in while it is frozen, and goes on where it stood", () => {
    const { runner, accept, asked, ran, finish, idle } = openRunner();
    accept(0, 5);
    asked();
    runner.freeze();
    expect([accept(5, 1), asked()]).toEqual([false, ["pause"]]);
    for (const offset of [0, 1, 2]) finish(offset);
    expect([idle(), ran()]).toEqual([0, [0, 1, 2, 3]]);
    finish(3);
    expect([idle(), ran()]).toEqual([1, [0, 1, 2, 3]]);
    runner.keep();
    expect([asked(), ran(), idle()]).toEqual([["seek 5", "resume"], [0, 1, 2, 3, 4], 1]);
    finish(4);
    expect(idle()).toBe(1);
  });

  it("PI3: starts nothing of what was taken in while it is frozen", () => {
    const { runner, accept, ran, finish, idle } = openRunner({ laneOf: () => "user" });
    accept(0, 3);
    runner.freeze();
    finish(0);
    expect([idle(), ran()]).toEqual([1, [0]]);
    runner.keep();
    expect(ran()).toEqual([0, 1]);
  });

  it("PI2: fetches while backpressure holds as long as nothing of it waits", () => {
    const { accept, asked, ran } = openRunner({ backpressure: { isHolding: true, onReleased: () => {} } });
    expect(asked()).toEqual(["seek 0", "resume"]);
    accept(0, 1);
    expect([asked(), ran()]).toEqual([["pause"], []]);
  });

  it("PI2: waits for the schemas of what comes behind a record that waits for its own, and for none twice", async () => {
    const ahead: string[] = [];
    const learnt = Promise.withResolvers<void>();
    let isLearnt = false;
    const { runner, ran } = openRunner({
      prefetch: () => (isLearnt ? undefined : learnt.promise),
      prefetchAhead: (value) => void ahead.push(String(value)),
    });
    const messages = ["a", null, "b"].map((text, offset) =>
      messageAt(offset, text === null ? null : Buffer.from(text)),
    );
    runner.accept({ messages, fetchedFrom: 0, lastOffset: 2, endOffset: 9 });
    expect([ahead, ran()]).toEqual([["a", "b"], []]);
    runner.accept({ messages: [messageAt(3, Buffer.from("c"))], fetchedFrom: 3, lastOffset: 3, endOffset: 9 });
    expect([ahead, ran()]).toEqual([["a", "b", "c"], []]);
    isLearnt = true;
    learnt.resolve();
    await learnt.promise;
    await Promise.resolve();
    runner.accept({ messages: [messageAt(4, Buffer.from("d"))], fetchedFrom: 4, lastOffset: 4, endOffset: 9 });
    expect([ahead, ran()]).toEqual([
      ["a", "b", "c"],
      [0, 1, 2, 3],
    ]);
  });

  it("C5: says outright that it is to be fetched or not, whatever kafkajs believes since before the join", () => {
    const locating = openRunner({}, false);
    locating.runner.freeze();
    locating.runner.keep();
    expect(locating.asked()).toEqual(["pause"]);
    const { runner, accept, asked } = openRunner();
    accept(0, 9);
    asked();
    runner.freeze();
    runner.keep();
    expect(asked()).toEqual(["seek 9", "pause"]);
  });

  it("takes nothing any more and commits nothing when it was given up", () => {
    const { runner, accept, asked, ran, finish } = openRunner();
    accept(0, 6);
    asked();
    runner.revoke();
    finish(0);
    runner.release();
    expect([accept(6, 1), ran(), asked()]).toEqual([false, [0, 1, 2, 3], []]);
    expect([runner.commitPoint(true), runner.window.isRevoked, runner.isLocating]).toEqual([null, true, false]);
  });

  it("knows what is left to fetch and how old the oldest is that is not finished", () => {
    const { runner, accept, finish } = openRunner();
    expect([runner.oldestUnfinishedMs, runner.endOffset, runner.hasNothingToFetch]).toEqual([null, 0, true]);
    runner.noteEnd(3);
    runner.noteEnd(2);
    expect([runner.endOffset, runner.hasNothingToFetch]).toEqual([3, false]);
    accept(0, 3, { end: 3, timestamp: "42" });
    expect([runner.oldestUnfinishedMs, runner.hasNothingToFetch, runner.running]).toEqual([42, true, 3]);
    for (const offset of [0, 1, 2]) finish(offset);
    expect(runner.oldestUnfinishedMs).toBeNull();
    accept(3, 2, { end: 0 });
    expect(runner.endOffset).toBe(5);
  });
});

describe("a record that must be learned", () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  it("PI2: holds its partition up until it was, and is asked about again then", async () => {
    const known = Promise.withResolvers<void>();
    const learnt: number[] = [];
    let isKnown = false;
    const { accept, asked, ran, runner } = openRunner({
      prefetch: ({ offset }) => {
        learnt.push(offset);
        return offset === 1 && !isKnown ? known.promise : undefined;
      },
    });
    asked();
    accept(0, 3);
    expect([ran(), asked(), learnt]).toEqual([[0], [], [0, 1]]);
    runner.release();
    expect(learnt).toEqual([0, 1]);
    expect(runner.oldestUnfinishedMs).toBe(7);
    isKnown = true;
    known.resolve();
    await turn();
    expect([ran(), asked(), learnt]).toEqual([[0, 1, 2], [], [0, 1, 1, 2]]);
  });

  it("ends the consumer where it cannot be, saying which it is", async () => {
    const unknown = new PosthasteError("unknown_schema", "no schema 9");
    const { accept, failures, ran } = openRunner({ prefetch: () => Promise.reject(unknown) });
    accept(0, 1);
    await turn();
    expect(failures).toMatchObject([
      { code: "unknown_schema", message: "offset 0 of t partition 0 cannot be read: no schema 9", cause: unknown },
    ]);
    expect(ran()).toEqual([]);
    const bug = openRunner({ prefetch: () => Promise.reject(new Error("a bug")) });
    bug.accept(0, 1);
    await turn();
    expect(bug.failures).toMatchObject([{ code: "internal" }]);
  });

  it("ends the consumer when it cannot be taken in, for a bug", () => {
    const { accept, failures } = openRunner({
      take: () => {
        throw new Error("a bug");
      },
    });
    accept(0, 1);
    expect(failures).toMatchObject([{ code: "internal", message: "taking in a record of t partition 0 failed" }]);
  });
});

describe("a partition of a retry topic", () => {
  it("W1, W3: keeps the time of its head alone, fetches nothing meanwhile, and fetches it again when it is due", async () => {
    vi.useFakeTimers();
    try {
      const released: number[] = [];
      const { runner, accept, asked, ran } = openRunner({
        delayMsOf: () => 1000,
        onReleased: (_, latenessMs) => void released.push(latenessMs),
      });
      asked();
      const timestamp = String(performance.now());
      expect(accept(0, 3, { timestamp })).toBe(true);
      expect([ran(), asked(), runner.oldestUnfinishedMs]).toEqual([[], ["seek 0", "pause"], Number(timestamp)]);
      expect([runner.hasNothingToFetch, runner.committableOffset]).toEqual([true, 0]);
      await vi.advanceTimersByTimeAsync(1000);
      expect([asked(), ran()]).toEqual([["resume"], []]);
      await vi.advanceTimersByTimeAsync(5);
      expect(accept(0, 3, { timestamp })).toBe(true);
      expect([ran(), released]).toEqual([
        [0, 1, 2],
        [5, 5, 5],
      ]);
      runner.revoke();
      await vi.advanceTimersByTimeAsync(5000);
      expect(asked()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});

it("PI4: takes a record without headers, and leaves a header out that has no value", () => {
  const taken: IncomingRecord[] = [];
  const { runner } = openRunner({
    take: (record) => {
      taken.push(record);
      return record.offset;
    },
  });
  const message = (offset: number, headers?: object) =>
    ({ offset: String(offset), timestamp: "1", key: null, value: null, attributes: 0, headers }) as KafkaMessage;
  const messages = [message(0), message(1, {}), message(2, { none: undefined, some: Buffer.from("x") })];
  runner.accept({ messages, fetchedFrom: 0, lastOffset: 2, endOffset: 3 });
  expect(taken.map(({ headers }) => headers)).toEqual([{}, {}, { some: "x" }]);
  expect(taken[0]?.headers).toBe(taken[1]?.headers);
});
