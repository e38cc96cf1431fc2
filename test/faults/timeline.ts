/** When something happened, again and again; and for how long it did not. Pure. */

export interface Timeline {
  /** Notes one moment, in ms of any one clock that does not go back. */
  readonly mark: (atMs: number) => void;
  readonly count: () => number;
  /** The longest time without a mark between `fromMs` and `toMs`, the two ends counting as marks. */
  readonly longestGap: (fromMs: number, toMs: number) => Gap;
  readonly longestGapMs: (fromMs: number, toMs: number) => number;
}

export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

export function createTimeline(): Timeline {
  const marks: number[] = [];
  const longestGap = (fromMs: number, toMs: number): Gap => {
    let longest: Gap = { fromMs, toMs: fromMs };
    let last = fromMs;
    for (const mark of [...marks.filter((each) => each > fromMs && each < toMs), toMs]) {
      if (mark - last > longest.toMs - longest.fromMs) longest = { fromMs: last, toMs: mark };
      last = mark;
    }
    return longest;
  };
  return {
    mark: (atMs) => {
      marks.push(atMs);
    },
    count: () => marks.length,
    longestGap,
    longestGapMs: (fromMs, toMs) => {
      const gap = longestGap(fromMs, toMs);
      return gap.toMs - gap.fromMs;
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
