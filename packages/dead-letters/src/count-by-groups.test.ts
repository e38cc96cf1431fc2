/** Rules: PL3 of planner.ts, for a count by groups, and LK1 and LK2 of group-counts.ts. */

import type { PlannedRange } from "@posthaste/core/replay/replay-plan";
import { type DeadLetterRows, eachRow } from "@posthaste/read-model/dead-letter-rows";
import type { GroupCounts, GroupCountsQuery } from "@posthaste/read-model/group-counts";
import type { Store } from "@posthaste/read-model/store";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Attempt,
  again,
  commonFilter,
  deadLetters,
  filter,
  known,
  log,
  type ModelOfStore,
  modelOf,
  partsOf,
  pastPlan,
  purpose,
  type Read,
  rangesOf,
  reportedBy,
  storeOf,
  withoutGroups,
} from "../test/counted-dead-letters.ts";
import { countRows } from "./count-by-rows.ts";
import { listedDeadLetters } from "./listed-dead-letters.ts";
import { PlanCount } from "./plan-count.ts";

const NEVER = new AbortController().signal;
const maxEntries = fc.integer({ min: 3, max: 40 });
const ALL = { apart: [], newestOf: [], newest: 0, most: 1000 };

/** The ranges after the topic has dropped `records` records at its start. */
function laterBy(ranges: readonly PlannedRange[], records: number): readonly PlannedRange[] {
  return ranges.map((range) => ({ ...range, start: Math.min(range.start + records, range.end) }));
}

/** A model that tells how many dead letters it counted by the size of their group. */
function tellingGroups(readModel: ModelOfStore, onCounted: (deadLetters: number) => void): ModelOfStore {
  return {
    ...readModel,
    groupCounts: async (query) => {
      const answered = await readModel.groupCounts(query);
      if (answered !== null) onCounted([...answered.counts.values()].reduce((sum, count) => sum + count, 0));
      return answered;
    },
  };
}

it("PL3: a count by groups is the one by rows and one by one, whatever is skipped", async () => {
  const asked = fc.record({ filter: fc.oneof({ weight: 4, arbitrary: commonFilter }, filter), purpose, again });
  // Most dead letters are apart where most were tried, plans named most, or a user is suppressed.
  const few = fc.record({ past: fc.array(pastPlan, { maxLength: 1 }), suppressed: fc.constant(null) });
  const tables = fc.oneof({ weight: 3, arbitrary: few }, known);
  let counted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(deadLetters, log),
      asked,
      tables,
      fc.tuple(maxEntries, fc.nat(3)),
      async (read, input, named, [most, later]) => {
        const store = storeOf(read, most);
        const readModel = modelOf(store);
        const parts = partsOf(readModel, named.past, named.suppressed);
        const ranges = laterBy(rangesOf(store), later);
        const begin = () => new PlanCount({ ...input, createdAtMs: 5 }, parts);
        const [byGroup, byRows, one] = [begin(), begin(), begin()];
        const telling = tellingGroups(readModel, (deadLetters) => {
          counted += deadLetters;
        });
        await countRows(telling, byGroup, ranges, NEVER);
        await countRows(withoutGroups(readModel), byRows, ranges, NEVER);
        for await (const deadLetters of listedDeadLetters(readModel, input.filter, ranges)) await one.take(deadLetters);
        expect(reportedBy(byGroup)).toEqual(reportedBy(byRows));
        expect({ ...reportedBy(byGroup), looked: one.looked }).toEqual(reportedBy(one));
        store.close();
      },
    ),
    { numRuns: process.env["POSTHASTE_LONG"] === "true" ? 200 : 80 },
  );
  // By groups at all: their number is chance.
  expect(counted).toBeGreaterThan(0);
});

/** The rows of ranges: for each group how many dead letters, and the places of those that are marked or asked for. */
function readByRows(store: Store, ranges: readonly PlannedRange[], apart: readonly number[]) {
  const counts = new Map<number, number>();
  const places: string[] = [];
  for (const range of ranges) {
    eachRow(store.deadLetterRows({ ...range, limit: 1000, withUsers: false }), range.partition, (row) => {
      if (row.isTried || apart.includes(row.groupId)) places.push(`${row.partition}:${row.offset}`);
      else counts.set(row.groupId, (counts.get(row.groupId) ?? 0) + 1);
    });
  }
  return { counts: ofAny(counts), places: places.sort() };
}

const ofAny = (counts: ReadonlyMap<number, number>) => [...counts].filter(([, count]) => count !== 0).sort();

function placesOf(apart: readonly ({ readonly partition: number } & DeadLetterRows)[]): readonly string[] {
  const places: string[] = [];
  for (const rows of apart) {
    eachRow(rows, rows.partition, ({ partition, offset }) => places.push(`${partition}:${offset}`));
  }
  return places;
}

it("LK1: each row of the ranges is counted once, as alike or apart, and the newest are of the former", () => {
  const query = fc.record({ later: fc.nat(3), apart: fc.nat(10), newestOf: fc.nat(10), newest: fc.nat(4) });
  fc.assert(
    fc.property(log, maxEntries, query, (read, held, { later, apart: every, newestOf, newest }) => {
      const store = storeOf(read, held);
      const ranges = laterBy(rangesOf(store), later);
      const ids = store.groupedDeadLetters().map(({ id }) => id);
      const apart = ids.filter((id) => id % (every + 1) === 0);
      const wanted = ids.filter((id) => !apart.includes(id) && id % (newestOf + 1) === 0);
      const answered = store.groupCounts({ ranges, apart, newestOf: wanted, newest, most: 1000 });
      const { counts, places } = readByRows(store, ranges, apart);
      expect(answered === null ? null : ofAny(answered.counts)).toEqual(counts);
      expect(placesOf(answered?.apart ?? []).toSorted()).toEqual(places);
      const all = store.search("dead_letters", { texts: [], limit: 1000, lookThrough: 1000, anyAge: true }).entries;
      const groupOf = groupsOf(store, ranges, places);
      const newestOnes = all.filter((each) => wanted.includes(groupOf(each) ?? 0)).slice(0, newest);
      expect(answered?.newest).toEqual(
        newestOnes.map(({ timeMs, partition, offset, place }) => ({ timeMs, partition, offset, place })),
      );
      store.close();
    }),
    { numRuns: process.env["POSTHASTE_LONG"] === "true" ? 100 : 50 },
  );
});

/** The groups of dead letters in the ranges that are not at these places. */
function groupsOf(store: Store, ranges: readonly PlannedRange[], but: readonly string[]) {
  const groups = new Map<string, number>();
  for (const range of ranges) {
    eachRow(store.deadLetterRows({ ...range, limit: 1000, withUsers: false }), range.partition, (row) => {
      groups.set(`${row.partition}:${row.offset}`, row.groupId);
    });
  }
  for (const place of but) groups.delete(place);
  return ({ partition, offset }: { readonly partition: number; readonly offset: number }) =>
    groups.get(`${partition}:${offset}`);
}

const DEAD_LETTER: Omit<Read, "timeMs" | "messageId"> = {
  ...{ what: "letter", partition: 0, destinationId: "on", reason: "window_expired" },
  ...{ sourceId: "src_1", type: "track", event: "Order", user: "ann", errors: ["503"], aliased: [] },
};
const SIX = [1, 2, 3, 4, 5, 6].map((timeMs): Read => ({ ...DEAD_LETTER, timeMs, messageId: `m-${timeMs}` }));
const RANGE = { partition: 0, start: 0, end: 6 };

function countsOf(query: Partial<GroupCountsQuery>, log: Parameters<typeof storeOf>[0] = SIX): GroupCounts | null {
  const store = storeOf(log, 100);
  try {
    return store.groupCounts({ ...ALL, ranges: [RANGE], ...query });
  } finally {
    store.close();
  }
}

it("LK2: there is no answer where more rows would be looked at than the caller allows", () => {
  const tried: Attempt = { ...DEAD_LETTER, what: "attempt", status: 503, timeMs: 6, messageId: "m-2" };
  const isAnswered = (query: Partial<GroupCountsQuery>, log: Parameters<typeof storeOf>[0] = SIX) =>
    [1, 2, 3, 4, 5, 6].map((most) => countsOf({ ...query, most }, log) !== null);
  // Rows outside of the ranges, of a group that is asked for, and that are marked.
  expect(isAnswered({ ranges: [{ ...RANGE, start: 2, end: 5 }] })).toEqual([false, false, true, true, true, true]);
  expect(isAnswered({ apart: [1] })).toEqual([false, false, false, false, false, true]);
  expect(isAnswered({}, [...SIX, tried, { ...tried, messageId: "m-3" }])).toEqual([
    ...[false, true, true, true, true, true],
  ]);
  // All of them together.
  expect(isAnswered({ ranges: [{ ...RANGE, end: 4 }] }, [...SIX, tried])).toEqual([
    ...[false, false, true, true, true, true],
  ]);
  // The newest of dead letters that are behind many others.
  const other = SIX.map((each, index): Read => (index === 1 ? { ...each, sourceId: "src_2" } : each));
  expect(isAnswered({ newestOf: [2], newest: 1 }, other)).toEqual([false, false, false, false, true, true]);
});

it("a plan of dead letters of which nothing sets any apart reads no row, where nobody is suppressed", async () => {
  const store = storeOf(SIX, 100);
  const notAsked = () => Promise.reject(new TypeError("rows are read"));
  const plan = { purpose: "replay" as const, filter: {}, again: false, createdAtMs: 9 };
  const counted = async (readModel: ModelOfStore, suppressed: string | null) => {
    const count = new PlanCount(plan, partsOf(readModel, [], suppressed));
    await countRows(readModel, count, [RANGE], NEVER);
    return [count.matched, count.leftOut.suppressed, count.looked, count.samples.map(({ place }) => place)];
  };
  const readModel = { ...modelOf(store), deadLetterRows: notAsked };
  expect(await counted(readModel, null)).toEqual([6, 0, 6, ["0:5", "0:4", "0:3"]]);
  expect(await counted(modelOf(store), "ann")).toEqual([0, 6, 6, []]);
  await expect(counted(readModel, "ann")).rejects.toThrow("rows are read");
  store.close();
});
