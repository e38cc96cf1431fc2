/** Rules: PK2 and PK3 of packed-log.ts. */
import type {
  AttemptBatch,
  AttemptRecord,
  DeferralRecord,
  LoggedDelivery,
} from "@posthaste/core/delivery/attempt-record";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AttemptLog, type AttemptLogSetting, parseAttemptLogSetting } from "./attempt-log.ts";

const ALL: AttemptLogSetting = { failures: true, deliveredShare: 1 };

interface Harness {
  readonly log: AttemptLog;
  readonly batches: AttemptRecord[][];
  readonly deferrals: DeferralRecord[];
  readonly dropped: () => number;
}

/** A log whose producer keeps its records; `pendingBytes` is the producer's own figure. */
function open({ setting = ALL, random = 0, pendingBytes = 0, fails = false }): Harness {
  const batches: AttemptRecord[][] = [];
  const deferrals: DeferralRecord[] = [];
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
      encode: ({ attempts, deferrals: ofBatch }: AttemptBatch) => {
        deferrals.push(...ofBatch);
        return Buffer.from(JSON.stringify(attempts));
      },
      decode: () => ({ attempts: [], deferrals: [] }),
      prefetch: () => undefined,
    },
    random: () => random,
    log: SILENT_LOG,
    onDropped: (attempts) => {
      dropped += attempts;
    },
  });
  return { log, batches, deferrals, dropped: () => dropped };
}

const logged = (messageId: string): LoggedDelivery => ({
  messageId,
  sourceId: "s",
  destinationId: "d",
  type: "track",
  receivedAtMs: 0,
  userKey: "u",
  event: null,
  originPartition: 0,
  originOffset: 1,
  configOffset: 2,
  recordDelayMs: 0,
  recordPartition: 3,
  recordOffset: 4,
  recordTimestampMs: 5,
  deferrals: 0,
  replayId: null,
});

const attempt = (messageId: string, answer: string | null = null): AttemptRecord => ({
  ...logged(messageId),
  attempt: 1,
  startedAtMs: 0,
  outcome: "delivered",
  urls: [{ url: "https://receiver.test/", status: 200, error: null, durationMs: 1, answer }],
  followUps: [],
  bodyBytes: 2,
});

const deferral = (messageId: string, urls: readonly string[] | null = null): DeferralRecord => ({
  ...logged(messageId),
  attempts: 0,
  deferredAtMs: 0,
  cause: "breaker_open",
  urls,
  delayMs: 10_000,
  dueAtMs: 10_000,
  deadlineMs: null,
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

  it("counts names and the URLs of what follows towards a record's length", async () => {
    const { log, batches } = open({});
    log.add({ ...attempt("m1"), event: "e".repeat(100_000), userKey: "u".repeat(100_000) });
    expect(batches).toHaveLength(1);
    const followUp = { kind: "retry", delayMs: 1, dueAtMs: 1, deadlineMs: 1, reason: null } as const;
    log.add({ ...attempt("m2"), followUps: [{ ...followUp, urls: ["x".repeat(200_000)] }] });
    expect(batches).toHaveLength(2);
    log.addDeferral(deferral("m3", ["x".repeat(200_000)]));
    expect(batches).toHaveLength(3);
    await log.close();
  });

  it("packs deferrals into the records of the attempts", async () => {
    const { log, batches, deferrals } = open({});
    log.addDeferral(deferral("m1"));
    log.add(attempt("m2"));
    log.addDeferral(deferral("m3"));
    await log.close();
    expect(batches.map((batch) => batch.map(({ messageId }) => messageId))).toEqual([["m2"]]);
    expect(deferrals.map(({ messageId }) => messageId)).toEqual(["m1", "m3"]);
  });

  it("writes what waits when it is closed", async () => {
    const { log, batches } = open({});
    log.add(attempt("m1"));
    await log.close();
    expect(batches).toHaveLength(1);
  });

  it("hands what waits to its producer before `close` returns, so that both can be closed at once", async () => {
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

  it.each<[string, number, boolean, boolean, boolean]>([
    ["all", 0.99, false, false, false],
    ["failures", 0, true, false, false],
    ["off", 0, true, true, true],
    ["0.1", 0.05, false, false, false],
    ["0.1", 0.5, true, false, false],
  ])(
    "by %s, random number %d, skips a delivered attempt: %s, one that ends a logged one: %s, another, a deferral: %s",
    async (text, random, delivered, last, failed) => {
      const setting = parseAttemptLogSetting(text);
      if (setting === undefined) throw new Error("not a setting");
      const { log } = open({ setting, random });
      expect([log.skips(true, false), log.skips(true, true)]).toEqual([delivered, last]);
      expect([log.skips(false, false), log.skips(false, true), log.skipsDeferrals]).toEqual([failed, failed, failed]);
      await log.close();
    },
  );

  it.each(["", "some", "1.5", "-0.1", "1e-1", "NaN"])("has no setting %j", (text) => {
    expect(parseAttemptLogSetting(text)).toBeUndefined();
  });
});
