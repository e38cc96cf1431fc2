import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FilledWindow, WindowFill, WorkingSetShare } from "./window-fill.ts";

const MAX = 2000;
const SHARE = 240;
/** A quarter of a share. */
const MUCH = 60;

function createFill({ heldUp = () => [] as readonly string[], partitions = 1 } = {}) {
  const isHeldUp = (owner: string) => heldUp().includes(owner);
  const share = new WorkingSetShare({ records: SHARE, leastShare: 32, isHeldUp, isBusy: () => true });
  share.divide(partitions);
  const fill = new WindowFill(MAX, share);
  let committableOffset = 0;
  /** A look at a window that was worked on since the last one, unless it is said to have stood still. */
  const look = (isBusy: boolean, differing: Partial<FilledWindow> = {}) => {
    committableOffset += 1;
    const owners = [
      { name: "a", records: SHARE - MUCH },
      { name: "b", records: MUCH },
    ];
    fill.look({ records: SHARE, committableOffset, owners, ...differing }, isBusy);
    return fill.records;
  };
  return { fill, look };
}

describe("a window", () => {
  it("WF1: is filled to its limits while the process has time left, and with its share until the first look", () => {
    const { fill, look } = createFill();
    expect([fill.records, look(false), look(true), look(false)]).toEqual([SHARE, MAX, SHARE, MAX]);
  });

  it("WF2: is filled to its limits while an owner in it is held up, and for ten looks after that", () => {
    let heldUp: readonly string[] = ["c"];
    const { look } = createFill({ heldUp: () => heldUp });
    expect(look(true)).toBe(SHARE);
    heldUp = ["b"];
    expect(look(true)).toBe(MAX);
    heldUp = [];
    expect(Array.from({ length: 11 }, () => look(true))).toEqual([...Array(10).fill(MAX), SHARE]);
  });

  it("WF2: is filled to its limits when its lowest unfinished record stood still for ten looks", () => {
    const { look } = createFill();
    const standing = { committableOffset: 7 };
    const found = Array.from({ length: 11 }, () => look(true, standing));
    expect(found).toEqual([...Array(10).fill(SHARE), MAX]);
  });

  it("WF2: is not filled further for owners that are held up with less than a quarter of a share together", () => {
    const { look } = createFill({ heldUp: () => ["c", "d"] });
    const owned = (records: number) => ({ owners: ["c", "d"].map((name) => ({ name, records })) });
    expect([look(true, owned(MUCH / 2 - 1)), look(true, owned(MUCH / 2))]).toEqual([SHARE, MAX]);
  });

  it("WF2: counts no look at which it was empty as one at which it stood still", () => {
    const { look } = createFill();
    for (let time = 0; time < 20; time += 1) look(true, { records: 0, committableOffset: 7 });
    expect([look(true, { committableOffset: 7 }), look(true, { committableOffset: 7 })]).toEqual([SHARE, SHARE]);
  });

  it("WF2: is not filled further while it is below its share, whatever holds it up", () => {
    const { look } = createFill({ heldUp: () => ["a", "b"] });
    const room = { records: SHARE - 1, committableOffset: 7 };
    expect(Array.from({ length: 12 }, () => look(true, room))).toEqual(Array(12).fill(SHARE));
  });

  it("is never filled beyond its limits, and always with something", () => {
    const looks = fc.array(
      fc.record({ isBusy: fc.boolean(), records: fc.nat(5000), owners: fc.constant([{ name: "a", records: 9 }]) }),
    );
    fc.assert(
      fc.property(looks, fc.nat(2000), fc.integer({ min: 1, max: 5000 }), (all, partitions, records) => {
        const share = new WorkingSetShare({ records, leastShare: 1, isHeldUp: () => false, isBusy: () => true });
        share.divide(partitions);
        const fill = new WindowFill(100, share);
        for (const { isBusy, ...window } of all) {
          fill.look({ committableOffset: 0, ...window }, isBusy);
          expect(fill.records).toBeGreaterThan(0);
          expect(fill.records).toBeLessThanOrEqual(100);
        }
      }),
    );
  });
});

describe("the share of a partition", () => {
  it("is the same for all that are owned, and never less than the least", () => {
    const shareOf = (partitions: number) => createFill({ partitions }).look(true);
    expect([0, 1, 2, 5, 100].map(shareOf)).toEqual([240, 240, 120, 48, 32]);
  });

  it("has no bound where there is no working set", () => {
    const fill = new WindowFill(MAX, new WorkingSetShare());
    fill.look({ records: MAX, committableOffset: 1, owners: [] }, true);
    expect(fill.records).toBe(MAX);
  });
});
