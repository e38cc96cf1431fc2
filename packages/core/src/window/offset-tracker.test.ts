import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OffsetRun, OffsetTracker, TrackedOffset } from "./offset-tracker.ts";

const entry = (offset: number, note = offset) => new TrackedOffset<number>(offset, 1000 + offset, note);

/** Offsets in the runs, one by one. */
function offsetsIn(runs: readonly OffsetRun[]): number[] {
  return runs.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));
}

describe("the committable offset", () => {
  it("is the lowest unfinished offset while records finish in any order (C1)", () => {
    const tracker = new OffsetTracker<number>(10);
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
    const tracker = new OffsetTracker<number>(0);
    const [a, b] = [entry(3), entry(9)] as const;
    tracker.add(a);
    tracker.add(b);
    tracker.finish(a);
    expect(tracker.committableOffset).toBe(9);
    tracker.finish(b);
    tracker.skipTo(20);
    expect(tracker.committableOffset).toBe(20);
  });

  it("never falls, though less is skipped to than was before (OT2)", () => {
    const tracker = new OffsetTracker<number>(10);
    tracker.skipTo(20);
    tracker.skipTo(15);
    expect([tracker.position, tracker.committableOffset]).toEqual([20, 20]);
  });

  it("refuses an offset that is not above the last", () => {
    const tracker = new OffsetTracker<number>(5);
    tracker.add(entry(5));
    expect(() => tracker.add(entry(5))).toThrow(RangeError);
  });
});

describe("what is finished above it", () => {
  it("includes what an earlier owner finished and was not read again yet (OT4)", () => {
    const finishedBefore = [
      { from: 12, to: 14 },
      { from: 20, to: 25 },
    ];
    const tracker = new OffsetTracker<number>(10, { finishedBefore });
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

  it("includes of what an earlier owner finished exactly what was not read again, wherever it reads (OT4)", () => {
    const lengths = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 0, max: 70 }), (pairs, readTo) => {
        const before: OffsetRun[] = [];
        let at = 0;
        for (const [unfinished, finished] of pairs) {
          before.push({ from: at + unfinished, to: at + unfinished + finished });
          at += unfinished + finished;
        }
        const finished = new Set(offsetsIn(before));
        const tracker = new OffsetTracker<number>(0, { finishedBefore: before });
        for (let offset = 0; offset < readTo; offset += 1) {
          expect(tracker.wasFinishedBefore(offset)).toBe(finished.has(offset));
          tracker.add(entry(offset));
        }
        expect(offsetsIn(tracker.finishedRuns())).toEqual([...finished].filter((offset) => offset >= readTo));
        expect(tracker.finishedRuns().every(({ from, to }) => from < to)).toBe(true);
      }),
    );
  });

  it("is told up to as many runs as are asked for, the lowest first", () => {
    const tracker = new OffsetTracker<number>(0, { finishedBefore: [{ from: 100, to: 110 }] });
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
        const tracker = new OffsetTracker<number>(0, { onPassed: (offset) => passed.push(offset) });
        const model: TrackedOffset<number>[] = [];
        const unfinished: TrackedOffset<number>[] = [];
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
          if (tracker.lowest?.offset !== (unfinished.length === 0 ? undefined : lowest)) return false;
        }
        const mark = tracker.committableOffset;
        const finishedAbove = model.filter(({ offset, finished }) => finished && offset > mark);
        const runs = tracker.finishedRuns();
        const reported = new Set(offsetsIn(runs));
        for (const [index, { from, to }] of runs.entries()) {
          expect(from).toBeLessThan(to);
          const next = runs[index + 1];
          // Apart by something unfinished, or they were one.
          if (next) expect(unfinished.some(({ offset }) => offset >= to && offset < next.from)).toBe(true);
        }
        expect(passed.sort((a, b) => a - b)).toEqual(
          model.filter(({ offset }) => offset < mark).map(({ offset }) => offset),
        );
        expect(finishedAbove.every(({ offset }) => reported.has(offset))).toBe(true);
        expect(unfinished.some(({ offset }) => reported.has(offset))).toBe(false);
        return true;
      }),
      { numRuns: 400 },
    );
  });
});

describe("what is told of it when it is passed (OT3)", () => {
  it("is condensed on the way, and suffices: the greatest of each kind, whatever finishes in which order", () => {
    /** Notes are numbers; of those that are equal modulo 3 the greatest suffices. */
    const condense = (notes: readonly number[]): number[] => {
      const greatest = new Map<number, number>();
      for (const note of notes) greatest.set(note % 3, Math.max(note, greatest.get(note % 3) ?? 0));
      return [...greatest.values()];
    };
    fc.assert(
      fc.property(
        fc.array(fc.nat(1_000_000), { minLength: 300, maxLength: 600 }),
        fc.infiniteStream(fc.nat()),
        (notes, picks) => {
          let [callbacks, greatest] = [0, [0, 0, 0]];
          const note = (value: number) => {
            callbacks += 1;
            greatest = greatest.map((held, kind) => (value % 3 === kind ? Math.max(held, value) : held));
          };
          const tracker = new OffsetTracker<number>(0, { onPassed: note, condense });
          const entries = notes.map((value, offset) => entry(offset, value));
          for (const each of entries) tracker.add(each);
          const [first, ...rest] = entries;
          for (let left = [...rest]; left.length > 0; ) {
            const [done] = left.splice((picks.next().value ?? 0) % left.length, 1);
            if (done) tracker.finish(done);
          }
          expect([callbacks, tracker.committableOffset]).toEqual([0, 0]);
          if (first) tracker.finish(first);
          expect(greatest).toEqual(
            [0, 1, 2].map((kind) => Math.max(0, ...notes.filter((value) => value % 3 === kind))),
          );
          expect(callbacks).toBeLessThan(36);
          expect(tracker.committableOffset).toBe(notes.length);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("is condensed seldom where all notes differ, and kept whole where nothing condenses it", () => {
    for (const isCondensing of [true, false]) {
      let calls = 0;
      const condense = (notes: readonly number[]): number[] => {
        calls += 1;
        return [...notes];
      };
      const passed: number[] = [];
      const onPassed = (note: number) => passed.push(note);
      const tracker = new OffsetTracker<number>(0, { onPassed, condense: isCondensing ? condense : undefined });
      const entries = Array.from({ length: 5000 }, (_, offset) => entry(offset));
      for (const each of entries) tracker.add(each);
      for (const each of [...entries].reverse()) tracker.finish(each);
      expect(passed.sort((a, b) => a - b)).toEqual(entries.map(({ offset }) => offset));
      if (isCondensing) expect(calls).toBeGreaterThan(4);
      expect(calls).toBeLessThan(12);
    }
  });

  it("is told once, and not of what has no note", () => {
    const passed: number[] = [];
    const tracker = new OffsetTracker<number>(0, { onPassed: (note) => passed.push(note) });
    const [a, b, c] = [
      new TrackedOffset<number>(0, 0, undefined),
      entry(1),
      new TrackedOffset<number>(2, 0, undefined),
    ] as const;
    for (const each of [a, b, c]) tracker.add(each);
    for (const each of [c, b, b, a, a, b]) tracker.finish(each);
    expect([passed, tracker.committableOffset, tracker.lowest]).toEqual([[1], 3, undefined]);
  });
});

it("OT5: keeps of ten thousand finished entries behind one that is stuck as many notes as differ, and no entry", () => {
  const condense = (notes: readonly number[]): number[] => [Math.max(...notes)];
  let callbacks = 0;
  const tracker = new OffsetTracker<number>(0, { onPassed: () => (callbacks += 1), condense });
  const stuck = entry(0);
  tracker.add(stuck);
  for (let offset = 1; offset <= 10_000; offset += 1) {
    const added = entry(offset);
    tracker.add(added);
    tracker.finish(added);
  }
  expect([stuck.above, stuck.finishedAbove?.to, tracker.finishedRuns()]).toEqual([
    undefined,
    10_001,
    [{ from: 1, to: 10_001 }],
  ]);
  expect(stuck.finishedAbove?.notes.length).toBeLessThan(32);
  tracker.finish(stuck);
  expect(callbacks).toBeLessThan(34);
  expect(tracker.committableOffset).toBe(10_001);
});
