/** Rules: S4, S5 of config-store.ts. */
import { beforeEach, expect, it } from "vitest";
import { WrittenRecords } from "./written-records.ts";

const ID = "src_1";

let held: number;
/** Of the repairs that were sent. */
let sent: number[];
let records: WrittenRecords<number>;

beforeEach(() => {
  [held, sent, records] = [5, [], new WrittenRecords()];
  records.repairBy((ids) => {
    for (const id of ids) {
      records.repairSent(id, held);
      sent.push(held);
    }
  });
});

/** The table comes to a record of this revision. */
function read(revision: number, base: number | null = null): void {
  if (revision < held) {
    records.handleStale(ID, revision);
    return;
  }
  held = revision;
  records.handleChange(ID, revision, { revision, base });
}

it("S4: the first record from a base stands, a later one is void until the standing value is written", () => {
  read(5, 0);
  read(6, 5);
  read(7, 5);
  expect([records.standing(ID), records.isVoid(ID)]).toEqual([6, true]);
  // From a base that a void record hid.
  read(8, 6);
  expect([records.standing(ID), records.isVoid(ID)]).toEqual([8, false]);
});

it("S4: a change from before a removal is void, a creation after it stands", () => {
  read(5, 0);
  records.handleChange(ID, undefined, { revision: 6, base: 5 });
  read(7, 5);
  expect([records.standing(ID), records.isVoid(ID)]).toEqual([undefined, true]);
  read(8, 0);
  expect([records.standing(ID), records.isVoid(ID)]).toEqual([8, false]);
});

it.each([
  [
    "a void record came first, since compaction removed the standing one",
    [
      [12, 5],
      [20, 10],
    ],
    20,
  ],
  [
    "a record that no schema read stood",
    [
      [10, 5],
      [13, 11],
    ],
    13,
  ],
  [
    "an older write came first, and the newest is a repair",
    [
      [8, 5],
      [10, 10],
    ],
    10,
  ],
  [
    "a repair repeats the standing record, and a change of its base comes after",
    [
      [10, 5],
      [10, 10],
      [11, 5],
    ],
    10,
  ],
  [
    "a void record came first and was repaired",
    [
      [12, 5],
      [12, 12],
      [20, 10],
    ],
    20,
  ],
  [
    "the repair of a void record came first",
    [
      [12, 12],
      [20, 10],
    ],
    20,
  ],
] as const)("S4: the newest change stands where %s", (_, written, standing) => {
  for (const [revision, base] of written) read(revision, base);
  expect(records.standing(ID)).toBe(standing);
});

it("S5: one repair is on its way at a time, however many late records come before it", () => {
  for (const late of [1, 2, 1]) read(late);
  expect(sent).toEqual([5]);
  // It comes, and is the newest: whatever is late after it wants another.
  read(5);
  read(3);
  expect(sent).toEqual([5, 5]);
});

it("S5: a repair that a change came before is late itself, and is followed by another", () => {
  read(1);
  read(9);
  read(2);
  expect(sent).toEqual([5]);
  read(5);
  expect(sent).toEqual([5, 9]);
});

it("S5: a repair that could not be written stands in no other's way", () => {
  read(1);
  records.repairFailed(ID);
  read(2);
  expect(sent).toEqual([5, 5]);
});
