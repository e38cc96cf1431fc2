/** Rule: PK2 of packed-log.ts. */
import { SILENT_LOG } from "@posthaste/core/log";
import type { UnroutedEvent, UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUnroutedLog, type UnroutedLog } from "./unrouted.ts";

interface Harness {
  readonly log: UnroutedLog;
  readonly written: UnroutedEvents[];
  readonly dropped: () => number;
  readonly warnings: unknown[];
}

function open({ pendingBytes = 0, fails = false } = {}): Harness {
  const written: UnroutedEvents[] = [];
  const warnings: unknown[] = [];
  let dropped = 0;
  const producer: Producer = {
    partitionsOf: () => 1,
    send: (records: readonly OutgoingRecord[]) => {
      if (fails) return Promise.reject(new Error("closed"));
      for (const { value } of records) written.push(JSON.parse(String(value)));
      return Promise.resolve();
    },
    pendingBytes,
    oldestPendingMs: 0,
    stalledMs: () => 0,
    backpressure: () => ({ isHolding: false, onReleased: () => {} }),
    close: () => Promise.resolve(),
  };
  const log = createUnroutedLog({
    producer,
    topic: "unrouted",
    codec: {
      encode: (value) => Buffer.from(JSON.stringify(value)),
      decode: (bytes) => JSON.parse(String(bytes)),
      prefetch: () => undefined,
    },
    nowMs: () => 77,
    log: { ...SILENT_LOG, warn: (fields) => void warnings.push(fields) },
    onDropped: (events) => {
      dropped += events;
    },
  });
  return { log, written, dropped: () => dropped, warnings };
}

const entry = (messageId: string): UnroutedEvent => ({
  messageId,
  type: "track",
  cause: "integrations",
  originPartition: 0,
  originOffset: 1,
  userKey: "u",
  event: null,
  receivedAtMs: 2,
  configOffset: 3,
  destinationIds: [],
  firstOffset: null,
  integration: "All",
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the log of events without a delivery", () => {
  it("packs a second's events, one record a source", async () => {
    const { log, written } = open();
    log.add("s1", entry("m1"));
    log.add("s2", entry("m2"));
    log.add("s1", entry("m3"));
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(written).toEqual([
      { sourceId: "s1", unroutedAtMs: 77, events: [entry("m1"), entry("m3")] },
      { sourceId: "s2", unroutedAtMs: 77, events: [entry("m2")] },
    ]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(written).toHaveLength(2);
    await log.close();
    expect([written.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it("writes a source's events at once when they are many, and the rest when it is closed", async () => {
    const { log, written } = open();
    for (let index = 0; index < 501; index++) log.add("s1", entry(`m${index}`));
    expect(written.map(({ events }) => events.length)).toEqual([500]);
    await log.close();
    expect(written.map(({ events }) => events.length)).toEqual([500, 1]);
  });

  it("writes a record before its ids and names are more than a broker takes", async () => {
    const { log, written } = open();
    for (let index = 0; index < 10; index++) {
      log.add("s1", {
        ...entry("m".repeat(10_000)),
        userKey: "u".repeat(10_000),
        destinationIds: ["d".repeat(10_000)],
      });
    }
    expect(written.map(({ events }) => events.length)).toEqual([7]);
    await log.close();
  });

  it("hands what waits to its producer before `close` returns, so that both can be closed at once", async () => {
    const { log, written } = open();
    log.add("s1", entry("m1"));
    const closed = log.close();
    expect(written).toHaveLength(1);
    await closed;
  });

  it("PK2: drops and counts while too much waits for the brokers, or when the producer refuses", async () => {
    const nearlyFull = open({ pendingBytes: 8 * 1024 * 1024 });
    nearlyFull.log.add("s1", entry("m1"));
    await nearlyFull.log.close();
    expect([nearlyFull.written.length, nearlyFull.dropped()]).toEqual([1, 0]);
    const full = open({ pendingBytes: 8 * 1024 * 1024 + 1 });
    full.log.add("s1", entry("m1"));
    await full.log.close();
    expect([full.written.length, full.dropped()]).toEqual([0, 1]);
    const refused = open({ fails: true });
    refused.log.add("s1", entry("m1"));
    await refused.log.close();
    expect(refused.dropped()).toBe(1);
    expect(refused.warnings).toMatchObject([{ event: "unrouted_not_written", events: 1, err: expect.any(Error) }]);
  });
});
