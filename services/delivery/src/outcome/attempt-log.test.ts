/** Rules: PK2 and PK3 of packed-log.ts. */
import type { AttemptBatch, AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AttemptLog, type AttemptLogSetting, parseAttemptLogSetting } from "./attempt-log.ts";

const ALL: AttemptLogSetting = { failures: true, deliveredShare: 1 };

interface Harness {
  readonly log: AttemptLog;
  readonly batches: AttemptRecord[][];
  readonly dropped: () => number;
}

/** A log whose producer keeps what it is given; `pendingBytes` is what it says of itself. */
function open({ setting = ALL, random = 0, pendingBytes = 0, fails = false }): Harness {
  const batches: AttemptRecord[][] = [];
  let dropped = 0;
  const producer: Producer = {
    partitionsOf: () => 1,
    send: (records: readonly OutgoingRecord[]) => {
      for (const { value } of records) batches.push(JSON.parse(String(value)));
      return fails ? Promise.reject(new Error("closed")) : Promise.resolve();
    },
    pendingBytes,
    oldestPendingMs: 0,
    stalledMs: () => 0,
    backpressure: () => ({ isHolding: false, onReleased: () => {} }),
    close: () => Promise.resolve(),
  };
  const log = new AttemptLog({
    setting,
    producer,
    topic: "attempts",
    codec: {
      encode: ({ attempts }: AttemptBatch) => Buffer.from(JSON.stringify(attempts)),
      decode: () => ({ attempts: [] }),
      prefetch: () => undefined,
    },
    random: () => random,
    log: SILENT_LOG,
    onDropped: (attempts) => {
      dropped += attempts;
    },
  });
  return { log, batches, dropped: () => dropped };
}

const attempt = (messageId: string, answer: string | null = null): AttemptRecord => ({
  messageId,
  sourceId: "s",
  destinationId: "d",
  type: "track",
  attempt: 1,
  startedAtMs: 0,
  outcome: "delivered",
  urls: [{ url: "https://receiver.test/", status: 200, error: null, durationMs: 1, answer }],
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the attempt log", () => {
  it("PK3: packs the attempts of a moment into one record", async () => {
    const { log, batches } = open({});
    log.add(attempt("m1"));
    log.add(attempt("m2"));
    expect(batches).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(batches.map((batch) => batch.map(({ messageId }) => messageId))).toEqual([["m1", "m2"]]);
    await log.close();
  });

  it("writes a record at once when it has grown large, by number or by answers", async () => {
    const { log, batches } = open({});
    for (let index = 0; index < 500; index++) log.add(attempt(`m${index}`));
    expect(batches).toHaveLength(1);
    log.add(attempt("large", "x".repeat(200_000)));
    expect(batches).toHaveLength(2);
    await log.close();
  });

  it("keeps long URLs out of records that no broker would take", async () => {
    const { log, batches } = open({});
    const [first] = attempt("m").urls;
    if (first === undefined) throw new Error("no URL");
    const urls = Array.from({ length: 5 }, () => ({ ...first, url: `https://receiver.test/${"x".repeat(2000)}` }));
    for (let index = 0; index < 500; index++) log.add({ ...attempt(`m${index}`), urls });
    await log.close();
    expect(batches.flat()).toHaveLength(500);
    expect(Math.max(...batches.map((batch) => JSON.stringify(batch).length))).toBeLessThan(500_000);
  });

  it("writes what waits when it is closed", async () => {
    const { log, batches } = open({});
    log.add(attempt("m1"));
    await log.close();
    expect(batches).toHaveLength(1);
  });

  it("hands what waits to its producer before `close` returns, so that the producer can be closed beside it", async () => {
    const { log, batches } = open({});
    log.add(attempt("m1"));
    const closed = log.close();
    expect(batches).toHaveLength(1);
    await closed;
  });

  it("PK2: drops and counts while too much waits for the brokers, or when the producer refuses", async () => {
    const full = open({ pendingBytes: 20_000_000 });
    full.log.add(attempt("m1"));
    await full.log.close();
    expect([full.batches.length, full.dropped()]).toEqual([0, 1]);
    const refused = open({ fails: true });
    refused.log.add(attempt("m1"));
    await refused.log.close();
    expect(refused.dropped()).toBe(1);
  });

  it.each<[string, number, boolean, boolean]>([
    ["all", 0.99, false, false],
    ["failures", 0, true, false],
    ["off", 0, true, true],
    ["0.1", 0.05, false, false],
    ["0.1", 0.5, true, false],
  ])(
    "by %s, with the random number %d, skips a delivered attempt: %s, another: %s",
    async (text, random, delivered, failed) => {
      const setting = parseAttemptLogSetting(text);
      if (setting === undefined) throw new Error("not a setting");
      const { log } = open({ setting, random });
      expect([log.skips(true), log.skips(false)]).toEqual([delivered, failed]);
      await log.close();
    },
  );

  it.each(["", "some", "1.5", "-0.1", "1e-1", "NaN"])("has no setting %j", (text) => {
    expect(parseAttemptLogSetting(text)).toBeUndefined();
  });
});
