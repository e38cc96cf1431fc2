/**
 * A clock that stands still until a test moves it. It has the shape of core's `Clock`, which this package may not
 * import.
 */

export interface FakeClock {
  /** Milliseconds since the Unix epoch. */
  readonly nowMs: () => number;
  /** Milliseconds from an arbitrary origin; only `advance` moves it. */
  readonly monotonicMs: () => number;
  /** Time passes: both readings move by `ms`. Throws RangeError for a negative `ms`. */
  readonly advance: (ms: number) => void;
  /** Somebody sets the clock: the wall reading moves by `ms`, which may be negative; the monotonic one stays. */
  readonly step: (ms: number) => void;
}

/** A clock whose wall reading is `nowMs` and whose monotonic reading begins at 0. */
export function createFakeClock(nowMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  let wallMs = nowMs;
  let elapsedMs = 0;
  return {
    nowMs: () => wallMs,
    monotonicMs: () => elapsedMs,
    advance: (ms) => {
      if (ms < 0) throw new RangeError(`time does not go back: ${ms} ms`);
      wallMs += ms;
      elapsedMs += ms;
    },
    step: (ms) => {
      wallMs += ms;
    },
  };
}
