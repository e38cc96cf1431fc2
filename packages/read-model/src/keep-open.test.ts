import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type KeptOpen, keepOpen } from "./keep-open.ts";

let kept: KeptOpen;
let runs: PromiseWithResolvers<void>[];
let pauses: PromiseWithResolvers<void>[];
let failed: unknown[];
let isWhole: boolean;

beforeEach(() => {
  [runs, pauses, failed, isWhole] = [[], [], [], false];
  const next = (all: PromiseWithResolvers<void>[]) => async () => {
    const one = Promise.withResolvers<void>();
    all.push(one);
    await one.promise;
  };
  const options = { run: next(runs), pause: next(pauses), isWhole: () => isWhole };
  kept = keepOpen({ ...options, onFailed: (reason) => failed.push(reason) });
});
afterEach(() => {
  for (const each of [...runs, ...pauses]) each.resolve();
  return kept.close();
});

it("KO1: is opened again after each failure, once it may be", async () => {
  const full = new Error("the database failed", { cause: new Error("database or disk is full") });
  for (let time = 1; time <= 3; time += 1) {
    await eventually(() => expect([runs.length, pauses.length]).toEqual([time, time - 1]));
    runs.at(-1)?.reject(full);
    await eventually(() => expect(pauses).toHaveLength(time));
    expect(failed).toHaveLength(time);
    pauses.at(-1)?.resolve();
  }
});

it("KO2: tells its trouble until everything was read since, also while it is open again", async () => {
  expect(kept.trouble()).toBeNull();
  await eventually(() => expect(runs).toHaveLength(1));
  runs[0]?.reject(new Error("the database failed", { cause: new Error("database or disk is full") }));
  await eventually(() => expect(kept.trouble()).toBe("the database failed: database or disk is full"));
  pauses[0]?.resolve();
  await eventually(() => expect(runs).toHaveLength(2));
  expect(kept.trouble()).not.toBeNull();
  isWhole = true;
  expect(kept.trouble()).toBeNull();
  isWhole = false;
  expect(kept.trouble()).toBeNull();
});

it("ends where it is told to, in the middle of a run too", async () => {
  await eventually(() => expect(runs).toHaveLength(1));
  const closed = kept.close();
  runs[0]?.resolve();
  await closed;
  expect([runs.length, pauses.length]).toEqual([1, 0]);
});
