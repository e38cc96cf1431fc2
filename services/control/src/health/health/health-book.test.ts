import { destinationHealthKey, processHealthKey } from "@posthaste/contracts/health-keys";
import type { DestinationHealth, HealthRecord } from "@posthaste/core/health/health-record";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { NO_HEALTH, PROCESS, urlHealth } from "../../../test/health-writer.ts";
import { type CountedAt, HealthBook } from "./health-book.ts";

const STARTED_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

let nowMs: number;
/** Null: the records read stood in the topic before control began to read it. */
let readToEndMs: number | null;
let reported: CountedAt[];
let book: HealthBook;

beforeEach(() => {
  nowMs = STARTED_MS;
  reported = [];
  readToEndMs = null;
  book = createBook();
});

function createBook(): HealthBook {
  const onCounted = (counted: CountedAt) => reported.push(counted);
  return new HealthBook({ nowMs: () => nowMs, readToEndMs: () => readToEndMs, onCounted });
}

/** As if the topic had been read to its end a second ago. */
function listen(): void {
  readToEndMs = nowMs - 1000;
  book.listen();
}

function say(instance: string, destinationId: string, health: Partial<DestinationHealth>, atMs = nowMs): void {
  const destination = { ...NO_HEALTH, countedSinceMs: STARTED_MS, ...health };
  const record: HealthRecord = { instance, writtenAtMs: atMs, destinationId, destination, process: null };
  book.apply(destinationHealthKey(destinationId, instance), record);
}

function sayProcess(instance: string, startedAtMs = 1, atMs = nowMs): void {
  const process = { ...PROCESS, startedAtMs };
  const said = { instance, writtenAtMs: atMs, destinationId: null, destination: null, process };
  book.apply(processHealthKey(instance), said);
}

const attempts = (steps = 5) => book.recent("a")?.attempts(nowMs, steps);

describe("what all processes say", () => {
  it("HB6: is remembered of processes that stopped or are silent, without their breakers and what they hold", () => {
    const answer = { atMs: nowMs - 100, outcome: "retryable", status: 503, error: null, durationMs: 1 } as const;
    const open = urlHealth("https://a.example/", { breaker: "open", openSinceMs: 1, nextProbeMs: 2, answer });
    say("stopped", "a", { failedAtMs: nowMs - 100, failingSinceMs: nowMs - 900, urls: [open] });
    expect(book.past("a")).toBeNull();
    book.apply(destinationHealthKey("a", "stopped"), undefined);
    const url = { url: "https://a.example/", breaker: "closed", openSinceMs: null, answer };
    expect([book.of("a"), book.past("a")]).toMatchObject([[], { failingSinceMs: nowMs - 900, urls: [url] }]);
    say("killed", "a", { deliveredAtMs: nowMs - 50, waiting: 3 });
    nowMs += 60_000;
    expect(book.past("a")).toMatchObject({ deliveredAtMs: nowMs - 60_050, failingSinceMs: null, urls: [url] });
    book.remember("b", { ...NO_HEALTH, deliveredAtMs: 7 });
    expect([book.past("b")?.deliveredAtMs, book.past("c")]).toEqual([7, null]);
  });

  it("HB1: counts while a process is heard of, be it of another destination or of itself", () => {
    say("one", "a", { waiting: 1 });
    nowMs += 50_000;
    say("one", "b", {});
    sayProcess("two");
    nowMs += 59_999;
    expect(book.of("a")).toMatchObject([{ waiting: 1 }]);
    expect(book.processes()).toMatchObject([{ instance: "two" }]);
    nowMs += 1;
    expect([book.of("a"), book.of("b"), book.processes()]).toEqual([[], [], []]);
    sayProcess("one");
    expect(book.of("a")).toHaveLength(1);
  });

  it("HB1: hears a process until its newest record, in whatever order its records are read", () => {
    say("one", "a", {});
    say("one", "b", {}, nowMs - 50_000);
    nowMs += 30_000;
    expect(book.of("a")).toHaveLength(1);
  });

  it("holds what a process runs with through what it says of destinations, and the one started first in front", () => {
    sayProcess("a", 2);
    sayProcess("b", 1);
    sayProcess("c", 2);
    say("a", "a", {});
    expect(book.processes().map(({ instance }) => instance)).toEqual(["b", "a", "c"]);
  });

  it("counts what all destinations got together", () => {
    say("one", "a", { delivered: 5 });
    say("two", "b", { delivered: 2, retryable: 1 });
    expect(book.rates.attempts(nowMs, 1)).toEqual({ delivered: 7, failed: 1 });
  });

  it("HB1: names what processes said that were silent for long", () => {
    book.listen();
    say("one", "a", {});
    say("one", "b", {});
    nowMs += 10 * MINUTE_MS;
    say("two", "a", {});
    expect([...book.silentFor(10 * MINUTE_MS)]).toEqual([["one", ["a", "b"]]]);
    expect([...book.silentFor(10 * MINUTE_MS + 1)]).toEqual([]);
  });

  it("HB2: counts what two processes counted, once each, in the minute in which they said it", () => {
    say("one", "a", { delivered: 5 });
    say("two", "a", { delivered: 7, retryable: 1 });
    nowMs += MINUTE_MS;
    say("one", "a", { delivered: 6 });
    expect([attempts(1), attempts(2)]).toEqual([
      { delivered: 1, failed: 0 },
      { delivered: 13, failed: 1 },
    ]);
    expect(reported.map(({ atMs, counted }) => [atMs - STARTED_MS, counted.delivered])).toEqual([
      [0, 5],
      [0, 7],
      [MINUTE_MS, 1],
    ]);
  });

  it("HB2: counts nothing towards a time that has not come, whatever a process's clock says", () => {
    say("one", "a", { delivered: 5, countedSinceMs: STARTED_MS + 3_600_000 }, STARTED_MS + 3_600_000);
    expect(attempts()).toEqual({ delivered: 5, failed: 0 });
    say("two", "a", { delivered: 1 });
    expect(attempts()).toEqual({ delivered: 6, failed: 0 });
  });

  it("HB3: holds what is removed no more, and keeps what was counted", () => {
    book.listen();
    nowMs += MINUTE_MS;
    say("one", "a", { delivered: 5, waiting: 9 });
    sayProcess("one");
    expect([...book.silentFor(0)]).toEqual([["one", ["a"]]]);
    book.apply(destinationHealthKey("a", "one"), undefined);
    expect([book.of("a"), [...book.destinationIds()], attempts()]).toEqual([[], [], { delivered: 5, failed: 0 }]);
    book.apply(processHealthKey("one"), undefined);
    expect([book.processes(), [...book.silentFor(0)]]).toEqual([[], []]);
  });

  it("forgets counts of more than an hour ago", () => {
    say("one", "a", { delivered: 5 });
    nowMs += 60 * MINUTE_MS;
    book.forgetOld();
    expect(book.recent("a")).toBeDefined();
    nowMs += 2 * MINUTE_MS;
    book.forgetOld();
    expect(book.recent("a")).toBeUndefined();
  });

  it("adds up to what every process counted, in whatever order their records come", () => {
    const said = fc.record({ instance: fc.constantFrom("one", "two", "three"), more: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(said, { maxLength: 30 }), (all) => {
        book = createBook();
        const totals = new Map<string, number>();
        for (const { instance, more } of all) {
          totals.set(instance, (totals.get(instance) ?? 0) + more);
          say(instance, "a", { delivered: totals.get(instance) ?? 0 });
        }
        const sum = [...totals.values()].reduce((one, other) => one + other, 0);
        expect(attempts()?.delivered ?? 0).toBe(sum);
        expect(book.of("a")).toHaveLength(totals.size);
      }),
    );
  });
});

/** Ahead where it is positive. */
const OFF = [-3, 3, -180, 180].map((minutes) => ({ minutes, offMs: minutes * MINUTE_MS }));

describe("a process whose clock is off", () => {
  it.each(OFF)("HB4: counts while it writes, and no longer than another one, by $minutes min", ({ offMs }) => {
    listen();
    sayProcess("one", 1, nowMs + offMs);
    say("one", "a", { delivered: 5, countedSinceMs: nowMs + offMs }, nowMs + offMs);
    nowMs += 58_999;
    expect([book.of("a").length, book.processes().length, [...book.silentFor(MINUTE_MS)]]).toEqual([1, 1, []]);
    nowMs += 1;
    expect([book.of("a").length, book.processes().length]).toEqual([0, 0]);
  });

  it.each(OFF)("HB4: counts in the minute in which it wrote, by $minutes min", ({ offMs }) => {
    listen();
    const countedSinceMs = nowMs + offMs;
    say("one", "a", { delivered: 5, countedSinceMs }, nowMs + offMs);
    nowMs += 2 * MINUTE_MS;
    listen();
    const failures = [{ url: "https://a.example/", answer: "503", count: 4 }];
    say("one", "a", { delivered: 6, retryable: 4, countedSinceMs, failures }, nowMs + offMs);
    expect([attempts(2), attempts(5)]).toEqual([
      { delivered: 1, failed: 4 },
      { delivered: 6, failed: 4 },
    ]);
    expect(book.failures("a")?.failed(nowMs, 2)).toEqual(failures);
    expect(book.rates.attempts(nowMs, 2)).toEqual({ delivered: 1, failed: 4 });
  });

  it.each(OFF)("HB4: says when something was by control's clock, by $minutes min", ({ offMs }) => {
    listen();
    const atMs = nowMs - 30_000;
    const off = atMs + offMs;
    const answer = { atMs: off, outcome: "retryable", status: 503, error: null, durationMs: 1 } as const;
    const url = { openSinceMs: off, nextProbeMs: off + 60_000, notBeforeMs: off, answer };
    const said = { failedAtMs: off, failingSinceMs: off, recoveredAtMs: off, deliveredAtMs: null, countedSinceMs: off };
    say("one", "a", { ...said, urls: [urlHealth("https://a.example/", url)] }, nowMs + offMs);
    sayProcess("one", off, nowMs + offMs);
    const [health] = book.of("a");
    const within = (reported: number | null | undefined, wantedMs: number) =>
      expect(Math.abs((reported ?? 0) - wantedMs)).toBeLessThanOrEqual(1000);
    within(health?.failedAtMs, atMs);
    within(health?.failingSinceMs, atMs);
    within(health?.recoveredAtMs, atMs);
    within(health?.countedSinceMs, atMs);
    within(health?.urls[0]?.openSinceMs, atMs);
    within(health?.urls[0]?.nextProbeMs, atMs + 60_000);
    within(health?.urls[0]?.notBeforeMs, atMs);
    within(health?.urls[0]?.answer?.atMs, atMs);
    within(book.processes()[0]?.startedAtMs, atMs);
    expect(health?.deliveredAtMs).toBeNull();
  });

  it("HB4: has its moments moved by one difference, whatever the way of each of its records takes", () => {
    const offMs = -3 * MINUTE_MS;
    listen();
    const failedAtMs = nowMs + offMs;
    say("one", "a", { failedAtMs }, nowMs + offMs);
    const [first] = book.of("a");
    for (const wayMs of [0, 4000, 1000]) {
      nowMs += 5000;
      readToEndMs = nowMs - wayMs;
      say("one", "a", { failedAtMs }, nowMs + offMs);
      expect(book.of("a")).toEqual([first]);
    }
    // Its clock is set right.
    nowMs += 5000;
    listen();
    say("one", "a", { failedAtMs: nowMs }, nowMs);
    expect(book.of("a")).toMatchObject([{ failedAtMs: nowMs }]);
  });

  it.each(OFF)("HB4: that died while control could not read is not heard when it can, by $minutes min", ({ offMs }) => {
    listen();
    nowMs += 10 * MINUTE_MS;
    say("one", "a", {}, nowMs - 9 * MINUTE_MS + offMs);
    expect(book.of("a")).toEqual([]);
  });

  it("HB5: and that is gone does not count anew when control starts, and counts when it writes", () => {
    say("one", "a", {}, nowMs + 3 * MINUTE_MS);
    expect(book.of("a")).toEqual([]);
    nowMs += 5000;
    listen();
    say("one", "a", {}, nowMs + 3 * MINUTE_MS);
    expect(book.of("a")).toHaveLength(1);
  });

  it("HB5: and that lives is not said to be gone when control starts, which is said of others after a minute", () => {
    for (const instance of ["lives", "gone"]) say(instance, "a", {}, nowMs - 180 * MINUTE_MS);
    const gone = () => [...book.silentFor(60 * MINUTE_MS).keys()];
    expect(gone()).toEqual([]);
    listen();
    nowMs += 59_999;
    expect(gone()).toEqual([]);
    readToEndMs = nowMs;
    say("lives", "a", {}, nowMs - 180 * MINUTE_MS);
    nowMs += 1;
    expect(gone()).toEqual(["gone"]);
  });
});
