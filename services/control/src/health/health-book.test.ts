import { destinationHealthKey, processHealthKey } from "@posthaste/contracts/health-keys";
import type { DestinationHealth, HealthRecord } from "@posthaste/core/health/health-record";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { NO_HEALTH, PROCESS } from "../../test/health-writer.ts";
import { type CountedAt, HealthBook } from "./health-book.ts";

const STARTED_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

let nowMs: number;
let told: CountedAt[];
let book: HealthBook;

beforeEach(() => {
  nowMs = STARTED_MS;
  told = [];
  book = new HealthBook({ nowMs: () => nowMs, onCounted: (counted) => told.push(counted) });
});

function say(instance: string, destinationId: string, health: Partial<DestinationHealth>, atMs = nowMs): void {
  const destination = { ...NO_HEALTH, countedSinceMs: STARTED_MS, ...health };
  const record: HealthRecord = { instance, writtenAtMs: atMs, destinationId, destination, process: null };
  book.apply(destinationHealthKey(destinationId, instance), record);
}

function sayProcess(instance: string, startedAtMs = 1): void {
  const process = { ...PROCESS, startedAtMs };
  const said = { instance, writtenAtMs: nowMs, destinationId: null, destination: null, process };
  book.apply(processHealthKey(instance), said);
}

const attempts = (steps = 5) => book.recent("a")?.attempts(nowMs, steps);

describe("what all processes say", () => {
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
    expect(told.map(({ atMs, counted }) => [atMs - STARTED_MS, counted.delivered])).toEqual([
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
    say("one", "a", { delivered: 5, waiting: 9 });
    sayProcess("one");
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
        book = new HealthBook({ nowMs: () => nowMs });
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
