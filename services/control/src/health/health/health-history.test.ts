/** Rules: HT1 and HT2 of health-table.ts, over the table itself. */
import { DatabaseSync } from "node:sqlite";
import type { Counted } from "@posthaste/core/health/recent-counts";
import { SILENT_LOG } from "@posthaste/core/log";
import { HealthTable, MINUTE_MS, QUARTER_MS } from "@posthaste/read-model/health-table";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Gauges, HealthHistory } from "./health-history.ts";

/** The begin of a quarter of an hour. */
const STARTED_MS = Math.floor(1_800_000_000_000 / QUARTER_MS) * QUARTER_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

let nowMs: number;
let table: HealthTable;
let gauges: Map<string, Gauges>;
let canAsk: boolean;
let history: HealthHistory;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = STARTED_MS;
  table = new HealthTable(new DatabaseSync(":memory:"), () => nowMs);
  gauges = new Map();
  canAsk = true;
  history = create();
});

afterEach(async () => {
  await history.close();
  vi.useRealTimers();
});

function create(): HealthHistory {
  const ask = async <T>(answer: () => T): Promise<T> => {
    if (!canAsk) throw new Error("it is being opened");
    return answer();
  };
  return new HealthHistory({
    readModel: {
      healthWrittenToMs: () => ask(() => table.writtenToMs),
      addHealth: (minute) => ask(() => table.add(minute)),
    },
    gauges: async () => gauges,
    nowMs: () => nowMs,
    log: SILENT_LOG,
  });
}

const counted = (delivered: number, over: Partial<Counted> = {}): Counted => ({
  ...{ delivered, retryable: 0, permanent: 0, deferred: 0, latencies: [delivered] },
  ...over,
});
const add = (delivered: number, atMs = nowMs, destinationId = "a") =>
  history.add({ destinationId, atMs, counted: counted(delivered) });
const rows = (of: "minutes" | "quarters" = "minutes", destinationId = "a") =>
  table
    .rows({ destinationId, sinceMs: 0, untilMs: nowMs + 1, of })
    .map(({ timeMs, delivered }) => [(timeMs - STARTED_MS) / MINUTE_MS, delivered]);
const flush = async (afterMs: number) => {
  nowMs += afterMs;
  await history.flush();
};

describe("what was counted over time", () => {
  it("HH1: is written when its minute is over, once", async () => {
    history.start();
    add(1);
    add(2);
    await flush(MINUTE_MS);
    expect([rows(), history.unwritten("a")]).toMatchObject([[], [{ delivered: 3 }]]);
    await flush(15_000);
    await flush(1000);
    expect([rows(), history.unwritten("a")]).toEqual([[[0, 3]], []]);
  });

  it("HH1: that comes after its minute was written counts in the first that is not", async () => {
    history.start();
    add(1);
    await flush(MINUTE_MS + 15_000);
    add(5, STARTED_MS);
    await flush(MINUTE_MS);
    expect(rows()).toEqual([
      [0, 1],
      [1, 5],
    ]);
  });

  it("HH1: is not counted again by a control that starts and reads it again", async () => {
    history.start();
    add(1);
    await flush(MINUTE_MS + 15_000);
    await history.close();
    history = create();
    add(1, STARTED_MS);
    add(4, STARTED_MS + MINUTE_MS);
    history.start();
    await flush(MINUTE_MS);
    expect(rows()).toEqual([
      [0, 1],
      [1, 4],
    ]);
  });

  it("HH2: is held while the read model cannot be asked, and written afterwards", async () => {
    history.start();
    add(1);
    canAsk = false;
    await flush(MINUTE_MS + 15_000);
    add(2);
    canAsk = true;
    await flush(MINUTE_MS);
    expect(rows()).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it("HH2: is held up to a bound, the newest", async () => {
    for (let index = 0; index < 60_000; index++) add(1, STARTED_MS, `d-${index}`);
    for (let index = 0; index < 60_000; index++) add(1, STARTED_MS + MINUTE_MS, `d-${index}`);
    expect(history.unwritten("d-7").map(({ timeMs }) => timeMs)).toEqual([STARTED_MS + MINUTE_MS]);
  });

  it("HT2: has what waited at the end of the minute, and the most of it in the quarter", async () => {
    history.start();
    for (const waiting of [3, 9, 4]) {
      gauges.set("a", { waiting, inFlight: 1 });
      await flush(nowMs === STARTED_MS ? MINUTE_MS + 15_000 : MINUTE_MS);
    }
    const waiting = (of: "minutes" | "quarters") =>
      table.rows({ destinationId: "a", sinceMs: 0, untilMs: nowMs, of }).map((row) => row.waiting);
    expect([waiting("minutes"), waiting("quarters")]).toEqual([[3, 9, 4], [9]]);
  });

  it("HT2: adds up to the same by the minute and by the quarter", async () => {
    history.start();
    for (let minute = 0; minute < 40; minute++) {
      add(minute);
      await flush(MINUTE_MS);
    }
    await flush(MINUTE_MS);
    const sum = (of: "minutes" | "quarters") => rows(of).reduce((all, [, delivered = 0]) => all + delivered, 0);
    expect([sum("minutes"), sum("quarters"), rows("quarters").length]).toEqual([780, 780, 3]);
  });

  it("keeps minutes for a day and quarters for a week", async () => {
    history.start();
    add(1);
    await flush(MINUTE_MS + 15_000);
    await flush(DAY_MS);
    expect([rows("minutes"), rows("quarters")]).toEqual([[], [[0, 1]]]);
    await flush(7 * DAY_MS);
    expect(rows("quarters")).toEqual([]);
  });

  it("HT1: takes no minute twice", () => {
    const minute = {
      minuteMs: STARTED_MS,
      rows: [{ ...counted(5), destinationId: "a", timeMs: 0, waiting: 0, inFlight: 0 }],
    };
    table.add(minute);
    table.add(minute);
    expect([rows("minutes"), rows("quarters")]).toEqual([[[0, 5]], [[0, 5]]]);
  });
});
