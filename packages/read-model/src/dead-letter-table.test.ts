/** Rules of dead-letter-table.ts, and NR1 of dead-letter-rows.ts. */
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { DeadLetterRowsQuery } from "./dead-letter-rows.ts";
import { type DeadLetterRow, eachRow, textHash } from "./dead-letter-rows.ts";
import { DeadLetterTable } from "./dead-letter-table.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 100 * HOUR_MS;
const ALL_ROWS = { partition: 0, start: 0, end: 1000, limit: 1000 };
const KINDS = ["window_expired", "rejected_by_receiver"];
const ALL_KINDS = [...KINDS, "suppressed"];
const EVENTS = ["Order", "Visit"] as const;
const USERS = ["ann", "ben", "cleo"] as const;

const deadLetter = fc.record({
  hour: fc.integer({ min: 90, max: 99 }),
  ms: fc.integer({ min: 0, max: HOUR_MS - 1 }),
  offset: fc.integer({ min: 0, max: 30 }),
  destinationId: fc.constantFrom("dst_1", "dst_2"),
  kind: fc.constantFrom(...KINDS),
  reasonClass: fc.constantFrom("receiver", "configuration"),
  error: fc.constantFrom(null, "503", "timeout"),
  sourceId: fc.constantFrom("src_1", "src_2"),
  event: fc.constantFrom(null, ...EVENTS),
  userIds: fc.subarray([...USERS], { maxLength: 2 }),
});

type DeadLetterFact = typeof deadLetter extends fc.Arbitrary<infer Each> ? Each : never;

function entryOf({ hour, ms, offset, destinationId, kind, ...said }: DeadLetterFact): ProjectionEntry {
  const { reasonClass, error, sourceId = "src_1", event = null, userIds = [] } = said;
  const errors = error === null ? [] : [error, "another"];
  const detail = JSON.stringify({ reasonClass, errors, sourceId, event, userIds, type: "track" });
  const place = { partition: 0, offset, place: 0 };
  return { ...place, timeMs: hour * HOUR_MS + ms, destinationId, kind, messageId: "m", detail, users: "" };
}

function open(maxEntries: number, keepMs = NOW_MS, nowMs = () => NOW_MS): DeadLetterTable {
  const options = { name: "dead_letters", kinds: ALL_KINDS, nowMs, maxEntries, keepMs, attemptsSince: () => [] };
  return new DeadLetterTable(new DatabaseSync(":memory:"), options);
}

function rowsOf(table: DeadLetterTable, query: Partial<DeadLetterRowsQuery>): readonly DeadLetterRow[] {
  const found: DeadLetterRow[] = [];
  eachRow(table.rows.rows({ ...ALL_ROWS, withUsers: true, ...query }), 0, (row) => found.push({ ...row }));
  return found;
}

const countsOf = (table: DeadLetterTable): Readonly<Record<string, number>> =>
  Object.fromEntries(
    table.hours({}).map(({ destinationId, kind, reasonClass, error, hourMs, count }) => {
      return [JSON.stringify([destinationId, kind, reasonClass, error, hourMs / HOUR_MS]), count];
    }),
  );

/** Counts the projection's entries one by one. */
function countedByHand({ projection }: DeadLetterTable): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { destinationId, kind, detail, timeMs } of projection.newest({ limit: 1000 })) {
    const { reasonClass, errors } = JSON.parse(detail);
    const name = JSON.stringify([destinationId, kind, reasonClass, errors[0] ?? null, Math.floor(timeMs / HOUR_MS)]);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

it("LC1: each dead letter that is held is counted once, whatever comes again and is dropped", () => {
  fc.assert(
    fc.property(fc.array(deadLetter, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (deadLetters, maxEntries) => {
      const table = open(maxEntries);
      for (const each of deadLetters) table.add([entryOf(each), entryOf(each)]);
      const hours = table.hours({});
      expect(countsOf(table)).toEqual(countedByHand(table));
      const held = table.projection.newest({ limit: 1000 });
      for (const { sample, firstMs, lastMs, destinationId, kind, hourMs } of hours) {
        const newest = held.find(({ timeMs, offset }) => timeMs === lastMs && `0:${offset}` === sample);
        expect(newest).toMatchObject({ destinationId, kind });
        expect([firstMs >= hourMs, firstMs <= lastMs, lastMs < hourMs + HOUR_MS]).toEqual([true, true, true]);
      }
    }),
  );
});

it("NR1: each dead letter that is held has its row, with what it has in common with others, and no other has", () => {
  const deadLetters = fc.uniqueArray(deadLetter, { selector: ({ offset }) => offset, minLength: 5, maxLength: 30 });
  fc.assert(
    fc.property(deadLetters, fc.integer({ min: 1, max: 20 }), (read, maxEntries) => {
      const table = open(maxEntries);
      for (const each of read) table.add([entryOf(each), entryOf(each)]);
      const held = table.projection.newest({ limit: 1000 }).toSorted((one, other) => one.offset - other.offset);
      const groups = new Map(table.rows.groups().map((each) => [each.id, each]));
      const rows = rowsOf(table, { withUsers: false });
      const found = rows.map(({ groupId: id, offset, timeMs }) => ({ ...groups.get(id), offset, timeMs }));
      expect(found).toMatchObject(
        held.map(({ offset, timeMs, destinationId, kind, detail }) => {
          const { sourceId, type, errors } = JSON.parse(detail);
          return { offset, timeMs, destinationId, reason: kind, sourceId, type, errors };
        }),
      );
      expect(new Set(rows.map(({ groupId: id }) => id)).size).toBe(groups.size);
      for (const event of EVENTS) {
        const id = table.rows.eventId(event);
        const named = rows.filter((row) => row.event === id).map(({ offset }) => offset);
        expect(named).toEqual(
          held.filter(({ detail }) => JSON.parse(detail).event === event).map(({ offset }) => offset),
        );
        expect(id === null).toBe(named.length === 0);
      }
      for (const user of USERS) {
        const hash = textHash(user);
        const about = rows.filter((row) => row.user === hash || row.otherUser === hash).map(({ offset }) => offset);
        const expected = held.filter(({ detail }) => JSON.parse(detail).userIds.includes(user));
        expect(about).toEqual(expected.map(({ offset }) => offset));
      }
    }),
  );
});

it("rows tell whom each is about, and come as they are asked for", () => {
  const table = open(100);
  const named = {
    hour: 95,
    ms: 0,
    destinationId: "dst_1",
    kind: "window_expired",
    reasonClass: "receiver",
    error: null,
  };
  const users = ["a\u00ff", "", "bcd", "e"];
  table.add(users.map((each, offset) => ({ ...entryOf({ ...named, offset } as DeadLetterFact), users: each })));
  const reported = (query: Partial<DeadLetterRowsQuery>) =>
    rowsOf(table, query).map(({ offset, users }) => [offset, users]);
  expect(reported({ start: 1, end: 4, limit: 2 })).toEqual([
    [1, ""],
    [2, "bcd"],
  ]);
  expect(reported({})).toEqual([...users.entries()]);
  expect(reported({ withUsers: false })).toEqual(users.map((_, offset) => [offset, ""]));
  expect(reported({ start: 4, end: 9 })).toEqual([]);
});

it("LC1: what has become too old since it came is not counted, though it is held", () => {
  const passedMs = fc.integer({ min: 0, max: 10 * HOUR_MS });
  fc.assert(
    fc.property(fc.array(deadLetter, { maxLength: 60 }), passedMs, (deadLetters, passed) => {
      let nowMs = NOW_MS;
      const table = open(100, 10 * HOUR_MS, () => nowMs);
      table.add(deadLetters.map(entryOf));
      nowMs += passed;
      expect(countsOf(table)).toEqual(countedByHand(table));
      const horizonMs = nowMs - 10 * HOUR_MS;
      expect(table.hours({}).filter(({ firstMs, lastMs }) => firstMs < horizonMs || lastMs < firstMs)).toEqual([]);
    }),
  );
});

it("is asked for a destination, for a reason, or for both", () => {
  const table = open(100);
  const named = { hour: 95, ms: 0, reasonClass: "receiver", error: "503" };
  const places = ["dst_1", "dst_2", "dst_1"].flatMap((destinationId) => KINDS.map((kind) => ({ destinationId, kind })));
  table.add(places.map((place, offset) => entryOf({ ...named, ...place, offset } as DeadLetterFact)));
  const found = (query: Parameters<DeadLetterTable["hours"]>[0]) =>
    table.hours(query).map(({ destinationId, kind, count }) => [destinationId, kind, count]);
  expect(found({ destinationId: "dst_2" })).toEqual([
    ["dst_2", "rejected_by_receiver", 1],
    ["dst_2", "window_expired", 1],
  ]);
  expect(found({ kind: "window_expired" })).toEqual([
    ["dst_1", "window_expired", 2],
    ["dst_2", "window_expired", 1],
  ]);
  expect(found({ destinationId: "dst_1", kind: "window_expired" })).toHaveLength(1);
});

it("leaves suppressed users out of a destination's total, in the hour that is shown in part too", () => {
  let nowMs = NOW_MS;
  const table = open(100, 5 * HOUR_MS, () => nowMs);
  const named = { ms: HOUR_MS - 1, destinationId: "dst_1", reasonClass: "configuration", error: null };
  const kinds = ["suppressed", "window_expired"];
  const facts = [96, 98].flatMap((hour) => kinds.map((kind) => ({ ...named, hour, kind, offset: hour })));
  for (const [offset, each] of facts.entries()) table.add([entryOf({ ...each, offset } as DeadLetterFact)]);
  expect(table.totals("dst_1").sums.any.open).toBe(2);
  nowMs = 101 * HOUR_MS + 500;
  expect(table.totals("dst_1").sums.any.open).toBe(2);
  expect(table.hours({}).reduce((sum, { count }) => sum + count, 0)).toBe(4);
});

it("says the hour's first, and the last with its place, in whatever order they come", () => {
  const table = open(100);
  const named = { hour: 95, destinationId: "dst_1", kind: "window_expired", reasonClass: "receiver", error: "503" };
  for (const [offset, ms] of [500, 900, 100].entries())
    table.add([entryOf({ ...named, offset, ms } as DeadLetterFact)]);
  expect(table.hours({})).toMatchObject([
    { count: 3, firstMs: 95 * HOUR_MS + 100, lastMs: 95 * HOUR_MS + 900, sample: "0:1", error: "503" },
  ]);
});

it("LC1: of an hour that is shown in part, the first is none that is too old", () => {
  let nowMs = NOW_MS;
  const table = open(100, 5 * HOUR_MS, () => nowMs);
  const named = { hour: 96, destinationId: "dst_1", kind: "window_expired", reasonClass: "receiver", error: "503" };
  for (const [offset, ms] of [100, 900].entries()) table.add([entryOf({ ...named, offset, ms } as DeadLetterFact)]);
  const hours = () => table.hours({}).map(({ count, firstMs, lastMs }) => [count, firstMs, lastMs]);
  expect(hours()).toEqual([[2, 96 * HOUR_MS + 100, 96 * HOUR_MS + 900]]);
  nowMs = 101 * HOUR_MS + 500;
  expect(hours()).toEqual([[1, 96 * HOUR_MS + 500, 96 * HOUR_MS + 900]]);
});

it("says nothing of an hour that is too old to be shown", () => {
  let nowMs = NOW_MS;
  const table = open(100, 5 * HOUR_MS, () => nowMs);
  const named = { destinationId: "dst_1", kind: "window_expired", reasonClass: "receiver", error: null, ms: 0 };
  for (const hour of [96, 98]) table.add([entryOf({ ...named, hour, offset: hour } as DeadLetterFact)]);
  const hours = () => table.hours({}).map(({ hourMs }) => hourMs / HOUR_MS);
  expect(hours()).toEqual([96, 98]);
  nowMs += 2 * HOUR_MS;
  expect(hours()).toEqual([98]);
});
