/** Rules of reported-counts.ts; over the real broker they stand in test/reported-counts.test.ts. */
import { SILENT_LOG } from "@posthaste/core/log";
import type { PlanCounting } from "@posthaste/core/replay/replay-plan";
import { expect, it } from "vitest";
import { ReportedCounts } from "./reported-counts.ts";

const COUNT: PlanCounting = {
  ...{ purpose: "replay", filter: { reason: "window_expired" }, again: false },
  ...{ askedAtMs: 0, looked: 5, of: 100 },
};
const OWN: PlanCounting = { ...COUNT, purpose: "purge" };

const LEADING = new AbortController().signal;

let nowMs: number;
let written: (readonly [string, readonly PlanCounting[] | undefined])[];

function open(own: readonly PlanCounting[] = []): ReportedCounts {
  nowMs = 0;
  written = [];
  return new ReportedCounts({
    store: () => ({ writeCounting: async (key, counting) => void written.push([key, counting]) }),
    planner: () => ({ counting: () => own }),
    clock: { monotonicMs: () => nowMs },
    log: SILENT_LOG,
  });
}

it("tells its own first, and of each process which count comes after which", () => {
  const reported = open([OWN]);
  reported.caughtUp();
  reported.note("counting:a", [COUNT, { ...COUNT, again: true }]);
  expect(reported.all()).toEqual([
    { ...OWN, before: 0 },
    { ...COUNT, before: 0 },
    { ...COUNT, again: true, before: 1 },
  ]);
  reported.note("counting:a", undefined);
  expect(reported.all()).toEqual([{ ...OWN, before: 0 }]);
});

it("CT2: of a process that is silent nothing is told, and what it left is removed", async () => {
  const reported = open();
  reported.caughtUp();
  reported.note("counting:a", [COUNT]);
  nowMs = 9_999;
  expect(reported.all()).toHaveLength(1);
  nowMs = 10_000;
  expect(reported.all()).toEqual([]);
  await reported.removeLeft(LEADING);
  expect(written).toEqual([]);
  reported.note("counting:b", [COUNT]);
  nowMs = 60_000;
  await reported.removeLeft(LEADING);
  expect(written).toEqual([["counting:a", undefined]]);
});

it("CT2: what stood there when this process began is of nobody until it is heard of", async () => {
  const reported = open();
  reported.note("counting:a", [COUNT]);
  reported.caughtUp();
  expect(reported.all()).toEqual([]);
  await reported.removeLeft(LEADING);
  expect(written).toEqual([["counting:a", undefined]]);
  reported.note("counting:a", [COUNT]);
  expect(reported.all()).toHaveLength(1);
});

it("CT1: a count is written while it is made, and nothing is written of one that is over at once", async () => {
  const reported = open([OWN]);
  await reported.tellOf(async () => {});
  expect(written).toEqual([]);
  const made = Promise.withResolvers<string>();
  const [one, other] = [reported.tellOf(() => made.promise), reported.tellOf(async () => {})];
  await other;
  await expect.poll(() => written.length, { timeout: 30_000 }).toBeGreaterThan(1);
  made.resolve("made");
  expect(await one).toBe("made");
  await reported.close();
  const last = written.length;
  const [[key]] = written as [(typeof written)[number]];
  expect(written).toEqual([...Array.from({ length: last - 1 }, () => [key, [OWN]]), [key, undefined]]);
  // Its own record is no news.
  reported.caughtUp();
  reported.note(key, [COUNT]);
  expect(reported.all()).toEqual([{ ...OWN, before: 0 }]);
});

it("CT1: a count that fails is told no more", async () => {
  const reported = open([OWN]);
  const made = Promise.withResolvers<void>();
  const failing = reported.tellOf(() => made.promise);
  await expect.poll(() => written.length, { timeout: 30_000 }).toBeGreaterThan(0);
  made.reject(new Error("the log is away"));
  await expect(failing).rejects.toThrow("the log is away");
  await reported.close();
  expect(written.at(-1)?.[1]).toBeUndefined();
});
