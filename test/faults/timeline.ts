/** When something happened, again and again; and for how long it did not. Pure. */

export interface Timeline {
  /** Notes one moment, in ms of any one clock that does not go back. */
  readonly mark: (atMs: number) => void;
  readonly count: () => number;
  /** The longest time without a mark between `fromMs` and `toMs`, the two ends counting as marks. */
  readonly longestGapMs: (fromMs: number, toMs: number) => number;
}

export function createTimeline(): Timeline {
  const marks: number[] = [];
  return {
    mark: (atMs) => {
      marks.push(atMs);
    },
    count: () => marks.length,
    longestGapMs: (fromMs, toMs) => {
      let longest = 0;
      let last = fromMs;
      for (const mark of marks) {
        if (mark <= fromMs || mark >= toMs) continue;
        longest = Math.max(longest, mark - last);
        last = mark;
      }
      return Math.max(longest, toMs - last);
    },
  };
}

/** The middle value; of an even number of values the lower of the two in the middle. Throws RangeError for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw new RangeError("no values");
  return middle;
}
