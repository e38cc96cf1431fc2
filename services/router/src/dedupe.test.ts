import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followLog, type LogReaderOptions } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createDedupe, drawSeed } from "./dedupe.ts";

vi.mock("@posthaste/kafka/log/log-reader", () => ({ followLog: vi.fn() }));

/** A reading of a log that goes on when the test says so. */
interface Reading {
  readonly options: LogReaderOptions;
  isClosed: boolean;
  /** The offset that is waited for. */
  until: number | null;
  readonly reached: PromiseWithResolvers<void>;
}

const readings: Reading[] = [];

beforeEach(() => {
  readings.length = 0;
  vi.mocked(followLog).mockReset();
  vi.mocked(followLog).mockImplementation(async (_, options) => {
    const reading: Reading = { options, isClosed: false, until: null, reached: Promise.withResolvers() };
    readings.push(reading);
    return {
      position: 0,
      reached: (offset) => {
        reading.until = offset;
        return reading.reached.promise;
      },
      close: async () => {
        reading.isClosed = true;
      },
    };
  });
});

const eventOf = (messageId: string, sourceId = "s1", receivedAtMs = 0) =>
  ({ messageId, sourceId, receivedAtMs }) as Partial<Event> as Event;

const recordOf = (offset: number, text: string | null): IncomingRecord => ({
  topic: "events",
  partition: 3,
  offset,
  timestampMs: 0,
  key: null,
  value: text === null ? null : Buffer.from(text),
  headers: {},
});

function open() {
  const warnings: unknown[] = [];
  const prefetched: string[] = [];
  const dedupe = createDedupe({
    connection: {} as KafkaConnection,
    eventsTopic: "events",
    codec: {
      encode: () => Buffer.alloc(0),
      decode: (bytes) => {
        const text = String(bytes);
        if (text === "junk") throw new PosthasteError("invalid_input", "it is junk");
        if (text === "bug") throw new Error("a bug");
        return eventOf(text);
      },
      prefetch: (bytes) => {
        prefetched.push(String(bytes));
        return Promise.resolve();
      },
    },
    limits: { limit: 10, windowMs: 1000 },
    seed: drawSeed(),
    log: { ...SILENT_LOG, warn: (fields) => void warnings.push(fields) },
  });
  return { dedupe, warnings, prefetched };
}

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The reading of the n-th rebuild. */
function readingOf(index = 0): Reading {
  const reading = readings[index];
  if (reading === undefined) throw new Error("nothing is read");
  return reading;
}

it("DD4: every drawing gives another seed, in both of its halves", () => {
  const seeds = Array.from({ length: 50 }, drawSeed);
  expect(new Set(seeds.map(({ high }) => high)).size).toBeGreaterThan(48);
  expect(new Set(seeds.map(({ low }) => low)).size).toBeGreaterThan(48);
});

describe("an event", () => {
  it("is a duplicate where the same source sent its id before, in its partition and not long ago", () => {
    const { dedupe } = open();
    const first = { partition: 3, offset: 0 };
    expect(dedupe.firstOffset(eventOf("a"), first)).toBeNull();
    expect(dedupe.firstOffset(eventOf("a", "s1", 1000), { partition: 3, offset: 1 })).toBe(0);
    expect(dedupe.firstOffset(eventOf("a", "s2"), { partition: 3, offset: 2 })).toBeNull();
    expect(dedupe.firstOffset(eventOf("b"), { partition: 3, offset: 3 })).toBeNull();
    expect(dedupe.firstOffset(eventOf("a"), { partition: 4, offset: 0 })).toBeNull();
    expect(dedupe.firstOffset(eventOf("a", "s1", 1001), { partition: 3, offset: 4 })).toBeNull();
    expect(readings).toEqual([]);
  });
});

describe("a partition that was gained", () => {
  it("DD1: is read again in the background from below its first event, once; routing does not wait", async () => {
    const { dedupe, prefetched } = open();
    expect(dedupe.firstOffset(eventOf("old"), { partition: 3, offset: 100 })).toBeNull();
    expect(dedupe.firstOffset(eventOf("new"), { partition: 3, offset: 101 })).toBeNull();
    await nextTick();
    expect(readings).toHaveLength(1);
    const { options, until } = readingOf();
    expect([options.topic, options.partition, options.from, until]).toEqual(["events", 3, 90, 100]);
    const records = [recordOf(90, "ancient"), recordOf(91, null), recordOf(92, "junk"), recordOf(93, "older")];
    await options.onRecords([...records, recordOf(100, "first"), recordOf(101, "another")]);
    expect(prefetched).toEqual(["ancient", "junk", "older"]);
    const firstOf = (id: string, offset: number) => dedupe.firstOffset(eventOf(id), { partition: 3, offset });
    expect([firstOf("ancient", 102), firstOf("older", 103)]).toEqual([90, 93]);
    expect([firstOf("first", 104), firstOf("another", 105)]).toEqual([null, null]);
    expect(readingOf().isClosed).toBe(false);
    readingOf().reached.resolve();
    await nextTick();
    expect(readingOf().isClosed).toBe(true);
    await dedupe.close();
  });

  it("DD1: is read from its beginning where less stands below", async () => {
    const { dedupe } = open();
    dedupe.firstOffset(eventOf("a"), { partition: 3, offset: 4 });
    await nextTick();
    expect(readingOf().options.from).toBe(0);
    const closed = dedupe.close();
    readingOf().reached.resolve();
    await closed;
  });

  it("DD3: holds the ids that come from now on where the reading fails, and says so", async () => {
    const { dedupe, warnings } = open();
    dedupe.firstOffset(eventOf("a"), { partition: 3, offset: 100 });
    await nextTick();
    readingOf().options.onFailure(new Error("the topic is gone"));
    await nextTick();
    expect(warnings).toMatchObject([{ event: "dedupe_rebuild_failed", partition: 3, err: expect.any(Error) }]);
    expect(readingOf().isClosed).toBe(true);
    expect(dedupe.firstOffset(eventOf("a"), { partition: 3, offset: 101 })).toBe(100);
    await dedupe.close();
  });

  it("DD3: takes for a failure what is no record that no schema reads, and a reader that cannot begin", async () => {
    const { dedupe, warnings } = open();
    dedupe.firstOffset(eventOf("a"), { partition: 3, offset: 100 });
    await nextTick();
    await expect(readingOf().options.onRecords([recordOf(90, "bug")])).rejects.toThrow("a bug");
    vi.mocked(followLog).mockRejectedValueOnce(new PosthasteError("closed", "the connection is closed"));
    dedupe.firstOffset(eventOf("a"), { partition: 4, offset: 100 });
    await nextTick();
    expect(warnings).toMatchObject([{ event: "dedupe_rebuild_failed", partition: 4 }]);
    const closed = dedupe.close();
    readingOf().reached.resolve();
    await closed;
  });
});

describe("a partition that is given up", () => {
  it("DD2: is forgotten with its reader", async () => {
    const { dedupe, warnings, prefetched } = open();
    const firstOf = (offset: number) => dedupe.firstOffset(eventOf("a"), { partition: 3, offset });
    firstOf(100);
    await nextTick();
    const { options, reached } = readingOf();
    expect(options.signal?.aborted).toBe(false);
    dedupe.forget(3);
    expect(options.signal?.aborted).toBe(true);
    await options.onRecords([recordOf(90, "b")]);
    expect(prefetched).toEqual([]);
    reached.reject(new PosthasteError("closed", "the reader is closed"));
    await nextTick();
    expect([warnings, readingOf().isClosed]).toEqual([[], true]);
    expect(firstOf(101)).toBeNull();
    await nextTick();
    expect(readingOf(1).options.from).toBe(91);
    dedupe.forget(9);
    readingOf(1).reached.resolve();
    await dedupe.close();
  });

  it("DD3: says what failed of its reader otherwise than by being closed", async () => {
    const { dedupe, warnings } = open();
    dedupe.firstOffset(eventOf("a"), { partition: 3, offset: 100 });
    await nextTick();
    dedupe.forget(3);
    readingOf().reached.reject(new Error("it broke"));
    await nextTick();
    expect(warnings).toMatchObject([{ event: "dedupe_rebuild_failed", partition: 3 }]);
  });

  it("DD2: is awaited with its reader, as all are, when the router ends", async () => {
    const { dedupe } = open();
    for (const partition of [3, 4]) dedupe.firstOffset(eventOf("a"), { partition, offset: 100 });
    await nextTick();
    let isClosed = false;
    const closed = dedupe.close().then(() => {
      isClosed = true;
    });
    expect(readings.map(({ options }) => options.signal?.aborted)).toEqual([true, true]);
    readingOf(0).reached.resolve();
    await nextTick();
    expect(isClosed).toBe(false);
    readingOf(1).reached.resolve();
    await closed;
    expect(readings.map((reading) => reading.isClosed)).toEqual([true, true]);
  });
});
