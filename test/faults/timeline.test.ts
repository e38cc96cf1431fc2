import fc from "fast-check";
import { expect, it } from "vitest";
import { createTimeline, median } from "./timeline.ts";

function timelineOf(marks: readonly number[]) {
  const timeline = createTimeline();
  for (const mark of marks) timeline.mark(mark);
  return timeline;
}

it("finds the longest time without a mark, its ends counting as marks", () => {
  const timeline = timelineOf([10, 20, 70, 80]);
  expect(timeline.longestGapMs(0, 90)).toBe(50);
  expect(timeline.longestGapMs(0, 200)).toBe(120);
  expect(timeline.longestGapMs(75, 78)).toBe(3);
  expect(timelineOf([]).longestGapMs(0, 40)).toBe(40);
  expect(timeline.longestGap(0, 90)).toEqual({ fromMs: 20, toMs: 70 });
});

it("is never longer than the whole and never shorter than the whole divided by the number of gaps", () => {
  const moments = fc.array(fc.integer({ min: 1, max: 999 }), { maxLength: 50 });
  fc.assert(
    fc.property(moments, (marks) => {
      const gap = timelineOf([...marks].sort((a, b) => a - b)).longestGapMs(0, 1_000);
      expect(gap).toBeLessThanOrEqual(1_000);
      expect(gap).toBeGreaterThanOrEqual(1_000 / (marks.length + 1));
    }),
  );
});

it("takes the middle value, the lower of two", () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2);
  expect(() => median([])).toThrow(RangeError);
});
