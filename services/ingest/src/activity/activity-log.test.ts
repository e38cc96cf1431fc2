import { type SourceActivity, UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { malformed, unauthorized } from "../answer/answer.ts";
import { ActivityLog } from "./activity-log.ts";
import type { RefusedContent } from "./refused-request.ts";

const REFUSAL = malformed("malformed_json", "m");
const content = (): RefusedContent => ({
  request: { url: "/v1/track", headers: {} },
  ...{ content: null, sentBytes: null, unknownKey: null },
});

let sends: OutgoingRecord[][];
let send: (records: readonly OutgoingRecord[]) => Promise<void>;
let log: ActivityLog;
const written = (): SourceActivity[] => sends.flat().map(({ value }) => JSON.parse(String(value)));
const writtenOf = (id: string) => written().filter(({ sourceId }) => sourceId === id);

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  sends = [];
  send = () => Promise.resolve();
  log = new ActivityLog({
    producer: {
      send: (records) => {
        sends.push([...records]);
        return send(records);
      },
    },
    topic: "activity",
    encode: (activity) => Buffer.from(JSON.stringify(activity)),
    instance: "here",
    clock: { nowMs: Date.now, monotonicMs: Date.now },
    log: SILENT_LOG,
  });
});
afterEach(() => {
  log.close();
  vi.useRealTimers();
});

describe("a record of a source's activity", () => {
  it("says what was taken, what was not, and when", async () => {
    log.accepted("a", 2);
    vi.advanceTimersByTime(300);
    log.accepted("a", 1);
    log.rejected("a", "missing_user");
    log.rejected("a", "missing_user");
    log.refused("a", REFUSAL, content);
    await vi.advanceTimersByTimeAsync(9_700);
    expect(sends.flat()).toMatchObject([{ topic: "activity", key: "a" }]);
    expect(written()).toEqual([
      {
        ...{ sourceId: "a", instance: "here", sinceMs: 1_000_000, untilMs: 1_010_000, accepted: 3 },
        ...{ lastAcceptedMs: 1_000_300, rejected: { missing_user: 2 }, refused: { malformed_json: 1 } },
        samples: [expect.objectContaining({ code: "malformed_json", path: "/v1/track", atMs: 1_000_300 })],
      },
    ]);
  });

  it("AX2: comes every ten seconds while the source sends, and none when it does not", async () => {
    for (let round = 0; round < 3; round++) {
      log.accepted("a", 1);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(written().map(({ accepted }) => accepted)).toEqual([1, 1, 1]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(written()).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("AX2: comes every minute while more than a thousand sources send", async () => {
    for (let second = 0; second < 60; second += 10) {
      expect(written()).toEqual([]);
      for (let n = 0; n <= 1_000; n++) log.accepted(`src-${n}`, 1);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    await vi.advanceTimersByTimeAsync(10);
    expect(written()).toHaveLength(1_001);
    expect(writtenOf("src-7")).toMatchObject([{ accepted: 6 }]);
    for (let n = 0; n < 1_000; n++) log.accepted(`src-${n}`, 1);
    await vi.advanceTimersByTimeAsync(10_010);
    expect(written()).toHaveLength(2_001);
  });

  it("AX2: comes every minute in the second minute too", async () => {
    for (let round = 0; round < 11; round++) {
      for (let n = 0; n <= 1_000; n++) log.accepted(`src-${n}`, 1);
      await vi.advanceTimersByTimeAsync(9_900);
      expect(writtenOf("src-7")).toHaveLength(round < 6 ? 0 : 1);
      await vi.advanceTimersByTimeAsync(110);
    }
  });

  it("AX6: goes out with others, a hundred at a time, and the calls are heard between", async () => {
    for (let n = 0; n < 250; n++) log.accepted(`src-${n}`, 1);
    vi.advanceTimersByTime(10_000);
    expect(sends.map((records) => records.length)).toEqual([100]);
    log.accepted("src-249", 1);
    await vi.advanceTimersByTimeAsync(10);
    expect(sends.map((records) => records.length)).toEqual([100, 100, 50]);
    expect(writtenOf("src-249")).toMatchObject([{ accepted: 2 }]);
  });

  it("is written at the end whatever the number of sources", () => {
    for (let n = 0; n < 250; n++) log.accepted(`src-${n}`, 1);
    log.close();
    expect(written()).toHaveLength(250);
  });

  it("is written at the end, and nothing is counted after it", () => {
    log.accepted("a", 1);
    log.close();
    expect(written()).toMatchObject([{ sourceId: "a", accepted: 1 }]);
    log.accepted("a", 1);
    log.refused(null, REFUSAL, content);
    expect(vi.getTimerCount()).toBe(0);
    log.close();
    expect(written()).toHaveLength(1);
  });
});

describe("AX3: of refused requests", () => {
  const samplesOf = (id: string) => writtenOf(id).map(({ samples }) => samples.length);

  it("five of a source are told in a minute, and all are counted", async () => {
    for (let second = 0; second < 60; second += 10) {
      for (let n = 0; n < 3; n++) log.refused("a", REFUSAL, content);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(samplesOf("a").reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(10);
    expect(samplesOf("a").slice(0, 2)).toEqual([3, 2]);
    expect(writtenOf("a").map(({ refused }) => refused)).toEqual(Array(6).fill({ malformed_json: 3 }));
  });

  it("five are told again in the next minute, and five of one record where a minute ends within it", async () => {
    const refuseSix = () => {
      for (let n = 0; n < 6; n++) log.refused("a", REFUSAL, content);
    };
    // A minute ends at 1,020,000.
    await vi.advanceTimersByTimeAsync(15_000);
    refuseSix();
    await vi.advanceTimersByTimeAsync(6_000);
    refuseSix();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(samplesOf("a")).toEqual([5]);
    await vi.advanceTimersByTimeAsync(60_000);
    refuseSix();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(samplesOf("a")).toEqual([5, 5]);
  });

  it("nothing is read for those that are not told", () => {
    const read = vi.fn(content);
    for (let n = 0; n < 50; n++) log.refused("a", REFUSAL, read);
    expect(read).toHaveBeenCalledTimes(5);
  });

  it("those without a known key add to one source, with twenty of them", async () => {
    for (let n = 0; n < 100; n++) log.refused(null, unauthorized("unknown_write_key", "m"), content);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(written()).toMatchObject([{ sourceId: UNKNOWN_SOURCE_ID, refused: { unknown_write_key: 100 } }]);
    expect(samplesOf(UNKNOWN_SOURCE_ID)).toEqual([20]);
  });

  it("a thousand are held over all sources", async () => {
    for (let n = 0; n < 900; n++) {
      for (let refused = 0; refused < 5; refused++) log.refused(`src-${n}`, REFUSAL, content);
    }
    await vi.advanceTimersByTimeAsync(10_010);
    expect(written().reduce((sum, { samples }) => sum + samples.length, 0)).toBe(1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    log.refused("src-899", REFUSAL, content);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(writtenOf("src-899").map(({ samples }) => samples.length)).toEqual([0, 1]);
  });
});

describe("AX4: while the brokers take nothing", () => {
  it("sixty records of a source wait, and its counts go on until there is room", async () => {
    let acknowledge = () => {};
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    send = () => acknowledged;
    for (let round = 0; round < 100; round++) {
      log.accepted("a", 1);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(written()).toHaveLength(60);
    acknowledge();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(written()).toHaveLength(61);
    expect(written()[60]).toMatchObject({ accepted: 40, untilMs: 1_000_000 + 101 * 10_000 });
    // As many as before, where those were taken.
    await vi.advanceTimersByTimeAsync(10_000);
    send = () => new Promise(() => {});
    for (let round = 0; round < 100; round++) {
      log.accepted("a", 1);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(written()).toHaveLength(61 + 60);
  });

  it("nothing is tried again once the log is closed, whatever waits still", async () => {
    send = () => new Promise(() => {});
    for (let round = 0; round < 61; round++) {
      log.accepted("a", 1);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    for (let n = 0; n < 150; n++) log.accepted(`src-${n}`, 1);
    vi.advanceTimersByTime(10_000);
    // A hundred are sent, and the others are to follow.
    log.close();
    await vi.advanceTimersByTimeAsync(10);
    expect(written()).toHaveLength(60 + 150);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a record that is refused waits no longer, and the log says so", async () => {
    send = () => Promise.reject(new Error("closed"));
    for (let round = 0; round < 70; round++) {
      log.accepted("a", 1);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(written()).toHaveLength(70);
  });

  it("four megabytes wait of all sources, and more go through where they are taken", async () => {
    const bytesOfAll = () => sends.flat().reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    const request = { url: "/", headers: { "user-agent": "x".repeat(256) } };
    const wide = () => ({ ...content(), request });
    const sendFor = async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) {
        for (let n = 0; n < 500; n++) log.refused(`src-${n}`, REFUSAL, wide);
        await vi.advanceTimersByTimeAsync(60_000);
      }
    };
    await sendFor(16);
    expect(bytesOfAll()).toBeGreaterThan(4_250_000);
    sends = [];
    send = () => new Promise(() => {});
    await sendFor(20);
    expect(bytesOfAll()).toBeGreaterThan(4_000_000);
    expect(bytesOfAll()).toBeLessThan(4_250_000);
  });
});

it("AX5: twenty thousand sources are counted between two records and no more", async () => {
  for (let n = 0; n < 25_000; n++) log.accepted(`src-${n}`, 1);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(written()).toHaveLength(20_000);
});
