import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentEntries } from "./recent-entries.ts";

const PARTITIONS = 3;

/** A record of a partition with so many entries; what is read next of it. */
const records = fc.array(
  fc.record({ partition: fc.nat(PARTITIONS - 1), entries: fc.nat(3), bytes: fc.nat(40), gap: fc.nat(2) }),
  { maxLength: 2000 },
);

interface Read {
  readonly partition: number;
  readonly offset: number;
  readonly place: number;
}

const isBelow = (one: Omit<Read, "partition">, other: Omit<Read, "partition">) =>
  one.offset < other.offset || (one.offset === other.offset && one.place < other.place);

/** Adds records, and answers every entry that was added. */
function addAll(
  recent: RecentEntries<string>,
  all: readonly { partition: number; entries: number; bytes: number; gap: number }[],
) {
  const next = Array.from({ length: PARTITIONS }, () => 0);
  const added: Read[] = [];
  for (const { partition, entries, bytes, gap } of all) {
    const offset = (next[partition] ?? 0) + gap;
    next[partition] = offset + 1;
    const places = Array.from({ length: entries }, (_, place) => ({ offset, place, value: "x", bytes }));
    recent.add(partition, offset + 1, places);
    added.push(...places.map(({ place }) => ({ partition, offset, place })));
  }
  return added;
}

function createRecent(maxEntries = 10_000, maxBytes = 1_000_000): RecentEntries<string> {
  const recent = new RecentEntries<string>({ maxEntries, maxBytes });
  for (let partition = 0; partition < PARTITIONS; partition += 1) recent.begin(partition, 0);
  return recent;
}

/** Records of one entry each, from an offset on. */
function addOf(recent: RecentEntries<string>, from: number, count: number, { bytes = 1, partition = 0 } = {}): void {
  const entries = Array.from({ length: count }, (_, n) => ({ offset: from + n, place: 0, value: "x", bytes }));
  recent.add(partition, from + count, entries);
}

const held = (recent: RecentEntries<string>, from = 0): Read[] =>
  [...recent.from(from)].map(({ partition, offset, place }) => ({ partition, offset, place }));

describe("the newest entries of a topic", () => {
  it("RE2: of each partition there is everything from its floor on, in the order of reading", () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 3000 }), (all, most, bytes) => {
        const recent = createRecent(most, bytes);
        const added = addAll(recent, all);
        const expected = added.filter(({ partition, ...at }) => !isBelow(at, recent.floorOf(partition)));
        expect(held(recent)).toEqual(expected);
      }),
    );
  });

  it("RE1: there are no more than the bounds allow, and no fewer", () => {
    const few = createRecent(10);
    addOf(few, 0, 2000);
    // Some go at a time.
    expect(held(few).length).toBeLessThanOrEqual(510);
    expect(held(few).length).toBeGreaterThanOrEqual(10);
    const small = createRecent(10_000, 100);
    for (let offset = 0; offset < 50; offset += 1) {
      addOf(small, offset, 1, { bytes: 10 });
      expect(held(small)).toHaveLength(Math.min(10, offset + 1));
    }
    // What a partition held goes with it.
    small.begin(0, 1000);
    addOf(small, 0, 10, { bytes: 10, partition: 1 });
    expect(held(small)).toHaveLength(10);
  });

  it("RE3: who asks from a number on has what came since, each once", () => {
    fc.assert(
      fc.property(records, records, (before, after) => {
        const recent = createRecent();
        addAll(recent, before);
        const number = recent.nextNumber;
        for (let partition = 0; partition < PARTITIONS; partition += 1) recent.begin(partition, 0);
        const added = addAll(recent, after);
        expect(held(recent, number)).toEqual(added);
        const numbers = Array.from(recent.from(0), (entry) => entry.number);
        expect(numbers).toEqual(numbers.map((_, index) => number + index));
      }),
    );
    const recent = createRecent();
    addOf(recent, 0, 3);
    const number = recent.nextNumber;
    addOf(recent, 3, 2);
    expect(held(recent, number).map(({ offset }) => offset)).toEqual([3, 4]);
  });

  it("begins with what comes: what stood in the topic when its reading began is not new", () => {
    const recent = new RecentEntries<string>();
    recent.begin(0, 5);
    recent.sawEnd(0, 9);
    expect(recent.now()).toEqual(new Map([[0, { offset: 9, place: 0 }]]));
    recent.add(0, 9, []);
    recent.sawEnd(0, 20);
    expect(recent.now()).toEqual(new Map([[0, { offset: 9, place: 0 }]]));
  });

  it("forgets a partition whose reading begins elsewhere, and goes on with one that was read up to there", () => {
    const recent = createRecent();
    addAll(recent, [
      { partition: 0, entries: 2, bytes: 1, gap: 0 },
      { partition: 1, entries: 1, bytes: 1, gap: 0 },
    ]);
    recent.begin(0, 1);
    expect(held(recent)).toHaveLength(3);
    recent.begin(0, 0);
    expect([held(recent), recent.floorOf(0), recent.nextOf(0)]).toEqual([
      [{ partition: 1, offset: 0, place: 0 }],
      { offset: 0, place: 0 },
      0,
    ]);
  });

  it("stands where it was read to, also where a part is read again", () => {
    const recent = createRecent();
    recent.add(0, 5, []);
    recent.add(0, 3, []);
    expect(recent.nextOf(0)).toBe(5);
  });

  it("is cleared for another topic of the name, and not while the topic's id is not known", () => {
    const recent = createRecent();
    for (const id of ["", "one", "", "one"]) recent.beginTopic(id);
    expect([recent.restarts, [...recent.partitions()]]).toEqual([0, [0, 1, 2]]);
    recent.beginTopic("");
    recent.beginTopic("other");
    expect([recent.restarts, [...recent.partitions()]]).toEqual([1, []]);
  });

  it("tells those who look on of what comes, and of a topic that was made anew", () => {
    const recent = createRecent();
    let reported = 0;
    const forget = recent.onChange(() => {
      reported += 1;
    });
    recent.add(0, 1, []);
    recent.clear();
    expect([reported, recent.restarts, [...recent.partitions()]]).toEqual([2, 1, []]);
    forget();
    recent.clear();
    expect(reported).toBe(2);
  });
});
