/** Rules: PL3 of planner.ts, for a count by rows, and NR2 of dead-letter-rows.ts. */

import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import { NONE_SKIPPED } from "@posthaste/core/replay/replay";
import { textHash } from "@posthaste/read-model/dead-letter-rows";
import type { Store } from "@posthaste/read-model/store";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Attempt,
  again,
  filter,
  known,
  log,
  modelOf,
  partsOf,
  planOf,
  purpose,
  type Read,
  rangesOf,
  reportedBy,
  storeOf,
  withoutGroups,
} from "../test/counted-dead-letters.ts";
import { countRows, isCountedByRows } from "./count-by-rows.ts";
import { listedDeadLetters } from "./listed-dead-letters.ts";
import { PlanCount } from "./plan-count.ts";
import type { HeldPlan } from "./replay-store.ts";

it("PL3: a count by rows is the count one by one, whatever was asked for and whatever is skipped", async () => {
  const asked = fc.record({ filter, purpose, again });
  await fc.assert(
    fc.asyncProperty(log, asked, known, fc.integer({ min: 3, max: 40 }), async (read, input, tables, maxEntries) => {
      const store = storeOf(read, maxEntries);
      const readModel = withoutGroups(modelOf(store));
      const parts = partsOf(readModel, tables.past, tables.suppressed);
      const ranges = rangesOf(store);
      const begin = () => new PlanCount({ ...input, createdAtMs: 5 }, parts);
      const [byRows, one] = [begin(), begin()];
      await countRows(readModel, byRows, ranges, new AbortController().signal);
      for await (const deadLetters of listedDeadLetters(readModel, input.filter, ranges)) await one.take(deadLetters);
      const looked = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
      expect(reportedBy(byRows)).toEqual({ ...reportedBy(one), looked });
      store.close();
    }),
    { numRuns: process.env["POSTHASTE_LONG"] === "true" ? 500 : 100 },
  );
});

const MATCHING: Read = {
  ...{ what: "letter", partition: 0, destinationId: "on", reason: "window_expired", sourceId: "src_1", type: "track" },
  ...{ event: "Order", user: "ann", messageId: "m-1", timeMs: 3, errors: ["503"], aliased: [] },
};
interface Asked {
  readonly filter?: DeadLetterFilter;
  readonly again?: boolean;
}

/** Counts by the size of their group and by rows alone, which come to the same. */
async function countOf(store: Store, plans: readonly HeldPlan[], asked: Asked = {}): Promise<PlanCount> {
  const readModel = modelOf(store);
  const plan = { purpose: "replay" as const, filter: {}, again: false, createdAtMs: 5, ...asked };
  const [byGroup, byRows] = await Promise.all(
    [readModel, withoutGroups(readModel)].map(async (each) => {
      const count = new PlanCount(plan, partsOf(readModel, plans, null));
      await countRows(each, count, [{ partition: 0, start: 0, end: 10 }], new AbortController().signal);
      return count;
    }),
  );
  store.close();
  expect(reportedBy(byGroup as PlanCount)).toEqual(reportedBy(byRows as PlanCount));
  return byRows as PlanCount;
}

it.each([
  ["purge", { purged: 1 }],
  ["replay", { replayedBefore: 1 }],
] as const)("whom an earlier %s was for is asked of the whole dead letter", async (purpose, leftOut) => {
  const store = storeOf([MATCHING, { ...MATCHING, user: "ben" }], 10);
  const earlier = planOf({ purpose, filter: { userId: "ann" }, start: 0, end: 5, leftOut: 9, next: 5 });
  const count = await countOf(store, [earlier]);
  expect([count.matched, count.leftOut]).toEqual([1, { ...NONE_SKIPPED, ...leftOut }]);
  expect(count.samples).toMatchObject([{ place: "0:1" }]);
});

it.each([
  ["before it died", 2, 1, 0],
  ["when it died", 3, 0, 1],
  ["since", 4, 0, 1],
] as const)("NR2: what was delivered %s, whichever is read first", async (_, timeMs, matched, deliveredSince) => {
  const delivered: Attempt = { ...MATCHING, what: "attempt", timeMs, status: 200 };
  for (const log of [
    [MATCHING, delivered],
    [delivered, MATCHING],
  ]) {
    const count = await countOf(storeOf(log, 10), []);
    expect([count.matched, count.leftOut]).toEqual([matched, { ...NONE_SKIPPED, deliveredSince }]);
    expect((await countOf(storeOf(log, 10), [], { again: true })).matched).toBe(1);
  }
});

it("users whose ids share a hash are told apart", async () => {
  const [user, other] = ["user-257598", "user-399787"] as const;
  expect(textHash(user)).toBe(textHash(other));
  const log = [user, other, other].map((each): Read => ({ ...MATCHING, user: each as Read["user"] }));
  const places = async (userId: string) => {
    const { matched, samples } = await countOf(storeOf(log, 10), [], { filter: { userId } });
    return [matched, samples.map(({ place }) => place).sort()];
  };
  expect(await places(user)).toEqual([1, ["0:0"]]);
  expect(await places(other)).toEqual([2, ["0:1", "0:2"]]);
});

it("samples are the newest of more dead letters than are kept, told by their rows in whatever order", async () => {
  for (const times of [
    [1, 2, 3, 4, 5, 6],
    [6, 5, 4, 3, 2, 1],
    [2, 5, 1, 6, 3, 4],
  ]) {
    const log = times.map((timeMs): Read => ({ ...MATCHING, timeMs }));
    const { samples } = await countOf(storeOf(log, 10), []);
    expect(samples.map(({ deadAtMs }) => deadAtMs)).toEqual([6, 5, 4]);
  }
});

it("samples are the newest dead letters, of which rows tell enough and of which they do not", async () => {
  const tried: Attempt = { ...MATCHING, what: "attempt", messageId: "m-2", status: 503, timeMs: 6 };
  const deadLetters = [1, 2, 3, 4, 5].map((timeMs): Read => {
    return { ...MATCHING, timeMs, messageId: timeMs % 2 === 0 ? "m-2" : "m-1" };
  });
  for (const log of [deadLetters, deadLetters.toReversed()]) {
    const { samples } = await countOf(storeOf([...log, tried], 10), []);
    expect(samples.map(({ deadAtMs }) => deadAtMs)).toEqual([5, 4, 3]);
  }
});

it("of one moment samples are those of the highest places, of which rows tell enough and of which they do not", async () => {
  const tried: Attempt = { ...MATCHING, what: "attempt", messageId: "m-2", status: 503, timeMs: 6 };
  const whole = [1, 3, 5];
  const log = [0, 1, 2, 3, 4, 5].map((offset): Read => {
    return { ...MATCHING, timeMs: 5, messageId: whole.includes(offset) ? "m-2" : "m-1" };
  });
  for (const read of [log, [...log, tried]]) {
    const { samples } = await countOf(storeOf(read, 10), []);
    expect(samples.map(({ place }) => place)).toEqual(["0:5", "0:4", "0:3"]);
  }
});

it("rows are counted where they tell enough, and where not far fewer dead letters have to be looked at", () => {
  expect(isCountedByRows({}, 1000, 1000)).toBe(true);
  expect(isCountedByRows({ destinationId: "on", type: "track", sinceMs: 1 }, 50, 1000)).toBe(true);
  expect(isCountedByRows({ destinationId: "on" }, 49, 1000)).toBe(false);
  for (const only of [{ userId: "ann" }, { event: "Order" }]) expect(isCountedByRows(only, 1000, 1000)).toBe(true);
  expect(isCountedByRows({ messageIds: ["m-1"] }, 1000, 1000)).toBe(false);
});
