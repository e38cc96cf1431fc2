/** Rule: HC2 of health-counts.ts. */
import type { HealthRecord } from "@posthaste/core/health/health-record";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DestinationsCounts } from "./health-counts.ts";
import type { ActiveHealth } from "./health-report.ts";
import { HealthWriter } from "./health-writer.ts";
import { planWrites, WRITE_INTERVAL_MS, type WriteChoice } from "./write-plan.ts";

const URL_A = "https://a.example/";
const STARTED_MS = 1_700_000_000_000;
const active = (over: Partial<ActiveHealth["urls"][number]> = {}, waiting = 0): ActiveHealth => ({
  urls: [
    { url: URL_A, breaker: { state: "closed", openedMs: null, nextProbeMs: null }, shutUntilMs: 0, out: 0, ...over },
  ],
  waiting,
});
const OPEN = { breaker: { state: "open", openedMs: 900, nextProbeMs: 1900 } } as const;

let elapsedMs: number;
let counts: DestinationsCounts;
let activeById: Map<string, ActiveHealth>;
let sends: OutgoingRecord[][];
let answer: () => Promise<void>;
let writer: HealthWriter;

beforeEach(() => {
  vi.useFakeTimers();
  elapsedMs = 1000;
  counts = new DestinationsCounts();
  activeById = new Map();
  sends = [];
  answer = () => Promise.resolve();
  writer = new HealthWriter({
    instance: "i1",
    process: {
      ...{ startedAtMs: 1, retryDelaysMs: [10_000], retryWindowMs: 60_000, windowRecords: 2000 },
      ...{ logsFailures: true, loggedShare: 1 },
    },
    counts,
    activeOf: (id) => activeById.get(id),
    producer: {
      send: (records) => {
        sends.push([...records]);
        return answer();
      },
    },
    topic: "health",
    codec: { encode: (record) => Buffer.from(JSON.stringify(record)) },
    clock: { nowMs: () => STARTED_MS + elapsedMs, monotonicMs: () => elapsedMs },
    log: SILENT_LOG,
  });
});

afterEach(async () => {
  await writer.close();
  vi.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    elapsedMs += 250;
    await vi.advanceTimersByTimeAsync(250);
  }
}

const settled = (id: string, outcome: "delivered" | "retryable" = "delivered") =>
  counts.settled(id, outcome, STARTED_MS + elapsedMs);
/** The records written since the last call, by key; the process's own left out. */
function written(): readonly (readonly [string, HealthRecord | null])[] {
  const records = sends.splice(0).flat();
  return records
    .map(({ key, value }) => [String(key), value == null ? null : JSON.parse(String(value))] as const)
    .filter(([key]) => key !== "process:i1");
}
const keys = () => written().map(([key]) => key);

describe("the health of destinations", () => {
  it("HW1: is written at once when it is new or its state changed, and every five seconds in use", async () => {
    settled("a");
    await pass(250);
    expect(keys()).toEqual(["a:i1"]);
    for (let seconds = 0; seconds < 4; seconds++) {
      settled("a");
      await pass(1000);
    }
    expect(keys()).toEqual([]);
    await pass(1000);
    expect(keys()).toEqual(["a:i1"]);
    settled("a", "retryable");
    await pass(250);
    expect(written()).toMatchObject([["a:i1", { destination: { delivered: 5, retryable: 1 } }]]);
    await pass(30_000);
    expect(keys()).toEqual([]);
  });

  it("HW1: says what stands against a URL in ms since the epoch", async () => {
    settled("a", "retryable");
    activeById.set("a", active({ ...OPEN, shutUntilMs: 9000, out: 2 }, 3));
    await pass(250);
    const url = { breaker: "open", openSinceMs: STARTED_MS + 900, nextProbeMs: STARTED_MS + 1900, inFlight: 2 };
    expect(written()).toMatchObject([
      ["a:i1", { destination: { waiting: 3, urls: [{ ...url, notBeforeMs: STARTED_MS + 9000 }] } }],
    ]);
  });

  it("HW1: writes fifty records in a quarter of a second and no more, changes first", async () => {
    for (let index = 0; index < 120; index++) settled(`d-${index}`);
    const perTick: number[] = [];
    for (let tick = 0; tick < 4; tick++) {
      await pass(250);
      perTick.push(sends.flat().length);
      sends = [];
    }
    expect(perTick).toEqual([50, 50, 21, 0]);
    await pass(WRITE_INTERVAL_MS - 1250);
    sends = [];
    for (let index = 0; index < 120; index++) settled(`d-${index}`);
    activeById.set("d-110", active(OPEN));
    await pass(250);
    expect(keys()[0]).toBe("d-110:i1");
  });

  it("HW2: is written once more when admission forgot what stood against it", async () => {
    settled("a", "retryable");
    activeById.set("a", active(OPEN));
    await pass(250);
    expect(written()).toMatchObject([["a:i1", { destination: { urls: [{ breaker: "open" }] } }]]);
    await pass(20_000);
    expect(keys()).toEqual([]);
    activeById.delete("a");
    await pass(250);
    expect(written()).toMatchObject([["a:i1", { destination: { urls: [] } }]]);
  });

  it("HW1: is written again when nothing waits any more, though nothing was counted", async () => {
    settled("a");
    activeById.set("a", active({ out: 1 }, 5));
    await pass(250);
    activeById.set("a", active());
    sends = [];
    await pass(WRITE_INTERVAL_MS);
    expect(written()).toMatchObject([["a:i1", { destination: { waiting: 0 } }]]);
  });

  it("HW3: has one send out at a time, and writes again what could not be sent, as it is by then", async () => {
    let fail: (reason: Error) => void = () => {};
    answer = () => new Promise((_, reject) => (fail = reject));
    settled("a");
    await pass(250);
    for (let index = 0; index < 20; index++) settled("a");
    await pass(10_000);
    expect(sends).toHaveLength(1);
    answer = () => Promise.resolve();
    fail(new Error("no broker"));
    sends = [];
    await pass(500);
    expect(written()).toMatchObject([["a:i1", { destination: { delivered: 21 } }]]);
  });

  it("HW3: writes at once again what the brokers refused at once, though nothing changed", async () => {
    answer = () => Promise.reject(new Error("no broker"));
    settled("a");
    await pass(250);
    answer = () => Promise.resolve();
    sends = [];
    await pass(500);
    expect(written()).toMatchObject([["a:i1", { destination: { delivered: 1 } }]]);
  });

  it("HW4: is beside what the process runs with, which is written every five seconds", async () => {
    await pass(10_250);
    const records = sends.flat();
    expect(records.map(({ key }) => key)).toEqual(["process:i1", "process:i1", "process:i1"]);
    expect(JSON.parse(String(records[0]?.value))).toMatchObject({
      ...{ instance: "i1", destinationId: null, destination: null },
      process: { retryDelaysMs: [10_000], retryWindowMs: 60_000, windowRecords: 2000, loggedShare: 1 },
    });
  });

  it("HW5: is removed at the end, and when the destination was not used for an hour", async () => {
    settled("a");
    await pass(250);
    counts.settled("b", "delivered", STARTED_MS + 3_600_000);
    await pass(250);
    sends = [];
    elapsedMs += 3_600_000;
    await pass(60_000);
    expect(written()).toContainEqual(["a:i1", null]);
    await writer.close();
    expect(sends.at(-1)?.map(({ key, value }) => [key, value])).toEqual([
      ["process:i1", null],
      ["b:i1", null],
    ]);
  });

  it("HW1: plans no more than it may, nothing too early, changes first, then what was written longest ago", () => {
    const candidate = fc.record({ destinationId: fc.string(), isChanged: fc.boolean(), writtenMs: fc.nat(20_000) });
    fc.assert(
      fc.property(fc.array(candidate), fc.nat(20), (candidates: WriteChoice[], most) => {
        const planned = planWrites(candidates, { nowMs: 20_000, most });
        expect(planned.length).toBeLessThanOrEqual(most);
        const due = candidates.filter(({ isChanged, writtenMs }) => isChanged || writtenMs <= 15_000);
        expect(planned.length).toBe(Math.min(most, due.length));
        const lastChange = planned.findLastIndex(({ isChanged }) => isChanged);
        expect(planned.slice(0, lastChange + 1).every(({ isChanged }) => isChanged)).toBe(true);
        const changes = candidates.filter(({ isChanged }) => isChanged).length;
        expect(lastChange + 1).toBe(Math.min(most, changes));
        for (const kind of [true, false]) {
          const writtenMs = planned.filter(({ isChanged }) => isChanged === kind).map((each) => each.writtenMs);
          expect(writtenMs).toEqual(writtenMs.toSorted((a, b) => a - b));
        }
      }),
    );
  });
});
