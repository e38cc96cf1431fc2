import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PackedLog } from "./packed-log.ts";
import type { OutgoingRecord } from "./producer.ts";

const MAX_PENDING_BYTES = 1000;

/** A log whose producer keeps its records; `pendingBytes` is the producer's own figure. */
function open({
  pendingBytes = 0,
  sent = () => Promise.resolve(),
}: {
  pendingBytes?: number;
  sent?: () => Promise<void>;
} = {}) {
  const written: [string | null, string][] = [];
  const dropped: [number, unknown][] = [];
  const log = new PackedLog<string, string | null>({
    producer: {
      pendingBytes,
      send: (records: readonly OutgoingRecord[]) => {
        for (const { key, value } of records) written.push([key === null ? null : String(key), String(value)]);
        return sent();
      },
    },
    topic: "log",
    encode: (entries, key) => Buffer.from(`${key}:${entries.join(",")}`),
    flushIntervalMs: 200,
    flushEntries: 3,
    flushLength: 10,
    maxPendingBytes: MAX_PENDING_BYTES,
    onDropped: (entries, error) => void dropped.push([entries, error]),
  });
  return { log, written, dropped };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the entries of a packed log", () => {
  it("PK3: go together in one record of each key, no later than the interval", async () => {
    const { log, written } = open();
    log.add("a", "1");
    log.add(null, "2");
    await vi.advanceTimersByTimeAsync(199);
    log.add("a", "3");
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toEqual([
      ["a", "a:1,3"],
      [null, "null:2"],
    ]);
  });

  it("go at once when those of their key are many or long, and leave the others", async () => {
    const { log, written } = open();
    for (const entry of ["1", "2", "3", "4"]) log.add("a", entry);
    expect(written).toEqual([["a", "a:1,2,3"]]);
    log.add("b", "5", 9);
    log.add("b", "6", 1);
    expect(written.slice(1)).toEqual([["b", "b:5,6"]]);
    log.add("b", "7", 9);
    await vi.advanceTimersByTimeAsync(200);
    expect(written.slice(2)).toEqual([
      ["a", "a:4"],
      ["b", "b:7"],
    ]);
  });

  it("leave no timer behind while there are none", async () => {
    const { log } = open();
    expect(vi.getTimerCount()).toBe(0);
    log.add("a", "1");
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(vi.getTimerCount()).toBe(0);
    log.add("a", "2");
    await log.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("PK2: are dropped and counted while too much waits for the brokers", async () => {
    const full = open({ pendingBytes: MAX_PENDING_BYTES + 1 });
    full.log.add("a", "1");
    full.log.add("a", "2");
    await full.log.close();
    expect([full.written, full.dropped]).toEqual([[], [[2, null]]]);
    const nearlyFull = open({ pendingBytes: MAX_PENDING_BYTES });
    nearlyFull.log.add("a", "1");
    await nearlyFull.log.close();
    expect([nearlyFull.written.length, nearlyFull.dropped]).toEqual([1, []]);
  });

  it("that the producer refuses are counted with its error", async () => {
    const refusal = new Error("closed");
    const { log, dropped } = open({ sent: () => Promise.reject(refusal) });
    log.add("a", "1");
    await log.close();
    expect(dropped).toEqual([[1, refusal]]);
  });

  it("are with the producer when `close` returns, which resolves when all of them were written", async () => {
    const acknowledged = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const waiting = [...acknowledged];
    const { log, written } = open({ sent: () => waiting.shift()?.promise ?? Promise.resolve() });
    log.add("a", "1");
    log.add("b", "2");
    let isClosed = false;
    const closed = log.close().then(() => {
      isClosed = true;
    });
    expect(written).toHaveLength(2);
    acknowledged[1]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(isClosed).toBe(false);
    acknowledged[0]?.resolve();
    await closed;
  });
});
