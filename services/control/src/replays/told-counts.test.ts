/** Rules of told-counts.ts; over the real broker they stand in test/told-counts.test.ts. */
import { SILENT_LOG } from "@posthaste/core/log";
import type { PlanCounting } from "@posthaste/core/replay/replay-plan";
import { expect, it } from "vitest";
import { ToldCounts } from "./told-counts.ts";

const COUNT: PlanCounting = {
  ...{ purpose: "replay", filter: { reason: "window_expired" }, again: false },
  ...{ askedAtMs: 0, looked: 5, of: 100 },
};
const OWN: PlanCounting = { ...COUNT, purpose: "purge" };

let nowMs: number;
let written: (readonly [string, readonly PlanCounting[] | undefined])[];

function open(own: readonly PlanCounting[] = []): ToldCounts {
  nowMs = 0;
  written = [];
  return new ToldCounts({
    store: () => ({ writeCounting: async (key, counting) => void written.push([key, counting]) }),
    planner: () => ({ counting: () => own }),
    clock: { monotonicMs: () => nowMs },
    log: SILENT_LOG,
  });
}

it("tells its own first, and of each process which count comes after which", () => {
  const told = open([OWN]);
  told.caughtUp();
  told.note("counting:a", [COUNT, { ...COUNT, again: true }]);
  expect(told.all()).toEqual([
    { ...OWN, before: 0 },
    { ...COUNT, before: 0 },
    { ...COUNT, again: true, before: 1 },
  ]);
  told.note("counting:a", undefined);
  expect(told.all()).toEqual([{ ...OWN, before: 0 }]);
});

it("CT2: of a process that is silent nothing is told, and what it left is removed", async () => {
  const told = open();
  told.caughtUp();
  told.note("counting:a", [COUNT]);
  nowMs = 9_999;
  expect(told.all()).toHaveLength(1);
  nowMs = 10_000;
  expect(told.all()).toEqual([]);
  await told.removeLeft();
  expect(written).toEqual([]);
  told.note("counting:b", [COUNT]);
  nowMs = 60_000;
  await told.removeLeft();
  expect(written).toEqual([["counting:a", undefined]]);
});

it("CT2: what stood there when this process began is of nobody until it is heard of", async () => {
  const told = open();
  told.note("counting:a", [COUNT]);
  told.caughtUp();
  expect(told.all()).toEqual([]);
  await told.removeLeft();
  expect(written).toEqual([["counting:a", undefined]]);
  told.note("counting:a", [COUNT]);
  expect(told.all()).toHaveLength(1);
});

it("CT1: a count is written while it is made, and nothing is written of one that is over at once", async () => {
  const told = open([OWN]);
  await told.tellOf(async () => {});
  expect(written).toEqual([]);
  const made = Promise.withResolvers<string>();
  const [one, other] = [told.tellOf(() => made.promise), told.tellOf(async () => {})];
  await other;
  await expect.poll(() => written.length, { timeout: 30_000 }).toBeGreaterThan(1);
  made.resolve("made");
  expect(await one).toBe("made");
  await told.close();
  const last = written.length;
  const [[key]] = written as [(typeof written)[number]];
  expect(written).toEqual([...Array.from({ length: last - 1 }, () => [key, [OWN]]), [key, undefined]]);
  // Its own record is no news.
  told.caughtUp();
  told.note(key, [COUNT]);
  expect(told.all()).toEqual([{ ...OWN, before: 0 }]);
});

it("CT1: a count that fails is told no more", async () => {
  const told = open([OWN]);
  const made = Promise.withResolvers<void>();
  const failing = told.tellOf(() => made.promise);
  await expect.poll(() => written.length, { timeout: 30_000 }).toBeGreaterThan(0);
  made.reject(new Error("the log is away"));
  await expect(failing).rejects.toThrow("the log is away");
  await told.close();
  expect(written.at(-1)?.[1]).toBeUndefined();
});
