import fc from "fast-check";
import { expect, it } from "vitest";
import { hash64 } from "./hash64.ts";
import { RecentIds } from "./recent-ids.ts";

const SEED = { high: 1, low: 2 };
const ids = (limit: number, windowMs = 1000) => new RecentIds({ limit, windowMs });

it("RI2: a record whose id stood earlier in the window is a duplicate of the one that had it first", () => {
  const recent = ids(100);
  expect(recent.firstOffset(hash64(SEED, "s", "m"), 5, 0)).toBeNull();
  expect(recent.firstOffset(hash64(SEED, "s", "m"), 6, 1000)).toBe(5);
  expect(recent.firstOffset(hash64(SEED, "t", "m"), 7, 1000)).toBeNull();
});

it("RI2: what is read again after a restart does not meet itself", () => {
  const recent = ids(100);
  expect(recent.firstOffset(hash64(SEED, "m"), 5, 0)).toBeNull();
  expect(recent.firstOffset(hash64(SEED, "m"), 5, 0)).toBeNull();
});

it("RI2: an id counts again once the window has passed, and its duplicates from then on", () => {
  const recent = ids(100, 1000);
  recent.firstOffset(hash64(SEED, "m"), 1, 0);
  expect(recent.firstOffset(hash64(SEED, "m"), 2, 1001)).toBeNull();
  expect(recent.firstOffset(hash64(SEED, "m"), 3, 1500)).toBe(2);
});

it("RI3: a rebuild that comes late puts the earlier record in its place", () => {
  const recent = ids(100);
  expect(recent.firstOffset(hash64(SEED, "m"), 9, 20)).toBeNull();
  expect(recent.firstOffset(hash64(SEED, "m"), 4, 10)).toBeNull();
  expect(recent.firstOffset(hash64(SEED, "m"), 9, 20)).toBe(4);
});

it("RI1: holds the newest ids up to the limit, and never more than twice as many", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.nat(200), { maxLength: 400 }), (limit, keys) => {
      const recent = ids(limit, Number.MAX_SAFE_INTEGER);
      const newest: number[] = [];
      keys.forEach((key, offset) => {
        const duplicate = recent.firstOffset(hash64(SEED, String(key)), offset, 0) !== null;
        if (newest.slice(-limit).includes(key)) expect(duplicate).toBe(true);
        if (!duplicate) newest.push(key);
        expect(recent.size).toBeLessThanOrEqual(2 * limit);
      });
    }),
  );
});

it("RI1: forgets the older generation as a whole when the younger one is full, and no sooner", () => {
  const recent = ids(2, 1000);
  for (const offset of [0, 1, 2, 3]) recent.firstOffset({ high: 0, low: offset }, offset, 0);
  expect(recent.size).toBe(4);
  expect(recent.firstOffset({ high: 0, low: 0 }, 9, 0)).toBe(0);
  recent.firstOffset({ high: 0, low: 4 }, 4, 0);
  expect(recent.size).toBe(3);
  expect([0, 1].map((low) => recent.firstOffset({ high: 0, low }, 20, 0))).toEqual([null, null]);
});

it("RI2: ids that meet in one place of the table are told apart, whichever half of them is equal", () => {
  const recent = ids(100);
  const meeting = [
    { high: 7, low: 0 },
    { high: 8, low: 0 },
    { high: 7, low: 1024 },
    { high: 8, low: 1024 },
    { high: 7, low: 1 },
  ];
  for (const [offset, id] of meeting.entries()) expect(recent.firstOffset(id, offset, 0)).toBeNull();
  for (const [offset, id] of meeting.entries()) expect(recent.firstOffset(id, 10 + offset, 0)).toBe(offset);
  expect(recent.firstOffset({ high: 9, low: 1024 }, 30, 0)).toBeNull();
});

it("holds a hundred thousand ids and finds each of them", () => {
  const recent = ids(100_000);
  for (let offset = 0; offset < 100_000; offset++) recent.firstOffset(hash64(SEED, "s", String(offset)), offset, 0);
  let found = 0;
  for (let offset = 0; offset < 100_000; offset++) {
    if (recent.firstOffset(hash64(SEED, "s", String(offset)), offset + 100_000, 0) === offset) found += 1;
  }
  expect(found).toBe(100_000);
});
