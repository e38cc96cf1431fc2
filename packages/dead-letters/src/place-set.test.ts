import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PlaceSet } from "./place-set.ts";

const place = fc.record({ partition: fc.nat({ max: 3 }), offset: fc.oneof(fc.nat({ max: 40 }), fc.maxSafeNat()) });
const inOrder = (a: { offset: number }, b: { offset: number }): number => a.offset - b.offset;

describe("a set of places", () => {
  it("holds what was added and nothing else, before and after it is written", () => {
    fc.assert(
      fc.property(fc.array(place), fc.array(place), (added, others) => {
        const places = new PlaceSet();
        for (const { partition, offset } of added.filter(({ offset }) => offset < 2 ** 53 - 2).sort(inOrder)) {
          places.add(partition, [offset]);
          places.add(partition, [offset, offset]);
        }
        places.add(4, []);
        const held = new Set(added.filter(({ offset }) => offset < 2 ** 53 - 2).map((each) => JSON.stringify(each)));
        for (const set of [places, PlaceSet.decode(places.encode())]) {
          for (const each of [...added, ...others]) {
            expect(set.has(each.partition, each.offset)).toBe(held.has(JSON.stringify(each)));
          }
        }
      }),
    );
  });

  it("holds as much of runs, which may touch and lie over one another", () => {
    const run = fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 5 }));
    fc.assert(
      fc.property(fc.array(run), fc.array(run), (first, second) => {
        const sorted = [...first, ...second].sort(([one], [other]) => one - other);
        const [one, other] = [new PlaceSet(), new PlaceSet()];
        const boundsOf = (runs: typeof sorted) => runs.flatMap(([from, length]) => [from, from + length + 1]);
        other.addRuns(1, boundsOf(sorted.slice(0, first.length)));
        other.addRuns(1, boundsOf(sorted.slice(first.length)));
        const offsets = sorted.flatMap(([from, length]) => Array.from({ length: length + 1 }, (_, n) => from + n));
        one.add(
          1,
          [...new Set(offsets)].sort((a, b) => a - b),
        );
        expect(other.encode()).toEqual(one.encode());
      }),
    );
    const late = new PlaceSet();
    late.addRuns(0, [7, 9]);
    expect(() => late.addRuns(0, [5, 6])).toThrow("came after 8");
  });

  it("is small where the places are dense, however many", () => {
    const places = new PlaceSet();
    const offsets = Array.from({ length: 500_000 }, (_, index) => index).filter((offset) => offset % 1000 !== 0);
    places.add(1, offsets);
    expect(places.encode().length).toBeLessThan(200);
    expect([new PlaceSet().encode().length, PlaceSet.decode(new Uint8Array()).has(0, 0)]).toEqual([0, false]);
  });

  it("takes no offset that comes late, and reads nothing that is cut off", () => {
    const places = new PlaceSet();
    places.add(0, [7, 9]);
    expect(() => places.add(0, [10, 8])).toThrow("came after 10");
    expect(() => PlaceSet.decode(Buffer.from([0x63, 0x64, 0x04, 0x00]))).toThrow();
  });
});
