import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OffsetRun, OffsetTracker, type Tracked } from "./offset-tracker.ts";

const entry = (offset: number): Tracked => ({ offset, finished: false });

/** Offsets in the runs, one by one. */
function offsetsIn(runs: readonly OffsetRun[]): number[] {
  return runs.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));
}

describe("the committable offset", () => {
  it("is the lowest unfinished offset while records finish in any order (C1)", () => {
    const tracker = new OffsetTracker(10);
    const [a, b, c] = [entry(10), entry(11), entry(12)] as const;
    for (const each of [a, b, c]) tracker.add(each);
    tracker.finish(c);
    expect(tracker.committableOffset).toBe(10);
    tracker.finish(a);
    expect(tracker.committableOffset).toBe(11);
    tracker.finish(b);
    expect(tracker.committableOffset).toBe(13);
  });

  it("is not held up by offsets that hold no record (C9)", () => {
    const tracker = new OffsetTracker(0);
    const [a, b] = [entry(3), entry(9)] as const;
    tracker.add(a);
    tracker.add(b);
    tracker.finish(a);
    expect(tracker.committableOffset).toBe(9);
    tracker.finish(b);
    tracker.skipTo(20);
    expect(tracker.committableOffset).toBe(20);
  });

  it("refuses an offset that is not above the last", () => {
    const tracker = new OffsetTracker(5);
    tracker.add(entry(5));
    expect(() => tracker.add(entry(5))).toThrow(RangeError);
  });
});

describe("what is finished above it", () => {
  it("includes what an earlier owner finished and was not read again yet (T4)", () => {
    const tracker = new OffsetTracker(10, [
      { from: 12, to: 14 },
      { from: 20, to: 25 },
    ]);
    const first = entry(10);
    tracker.add(first);
    expect(tracker.finishedRuns()).toEqual([
      { from: 12, to: 14 },
      { from: 20, to: 25 },
    ]);
    tracker.finish(first);
    const again = entry(12);
    expect(tracker.wasFinishedBefore(12)).toBe(true);
    tracker.add(again);
    tracker.finish(again);
    expect(tracker.committableOffset).toBe(13);
    expect(tracker.finishedRuns()).toEqual([
      { from: 13, to: 14 },
      { from: 20, to: 25 },
    ]);
    expect(tracker.wasFinishedBefore(14)).toBe(false);
    expect(tracker.wasFinishedBefore(22)).toBe(true);
  });

  it("is told up to as many runs as are asked for, the lowest first", () => {
    const tracker = new OffsetTracker(0, [{ from: 100, to: 110 }]);
    for (let offset = 0; offset < 10; offset += 1) {
      const added = entry(offset);
      tracker.add(added);
      if (offset % 2 === 1) tracker.finish(added);
    }
    expect(tracker.finishedRuns(2)).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4 },
    ]);
    expect(tracker.finishedRuns()).toHaveLength(6);
  });

  it("agrees with a list of all records through any sequence of adds, gaps and finishes", () => {
    const step = fc.record({
      kind: fc.constantFrom("add", "finish", "finish"),
      pick: fc.nat(1_000_000),
      gap: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1500, size: "max" }), (steps) => {
        const passed: number[] = [];
        const tracker = new OffsetTracker<Tracked>(0, [], ({ offset }) => passed.push(offset));
        const model: Tracked[] = [];
        const unfinished: Tracked[] = [];
        for (const { kind, pick, gap } of steps) {
          if (kind === "add") {
            const added = entry(tracker.position + (pick % 5 === 0 ? gap : 0));
            tracker.add(added);
            model.push(added);
            unfinished.push(added);
          } else if (unfinished.length > 0) {
            const [done] = unfinished.splice(pick % unfinished.length, 1);
            if (done) tracker.finish(done);
          }
          const lowest = unfinished.reduce((low, { offset }) => Math.min(low, offset), tracker.position);
          if (tracker.committableOffset !== lowest) return false;
          // What was found is stepped over the next time, and must not be remembered wrongly.
          if (pick % 7 === 0) tracker.finishedRuns(pick % 3 === 0 ? 2 : undefined);
        }
        const mark = tracker.committableOffset;
        const finishedAbove = model.filter(({ offset, finished }) => finished && offset > mark);
        const reported = new Set(offsetsIn(tracker.finishedRuns()));
        expect(passed).toEqual(model.filter(({ offset }) => offset < mark).map(({ offset }) => offset));
        expect(finishedAbove.every(({ offset }) => reported.has(offset))).toBe(true);
        expect(unfinished.some(({ offset }) => reported.has(offset))).toBe(false);
        return true;
      }),
      { numRuns: 400 },
    );
  });
});
