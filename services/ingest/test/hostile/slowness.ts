/**
 * How much slower this machine is than the one that the bounds were set on, by the cost of a fixed work here. Pure.
 *
 * SLW1  It is the median of the last readings. Now and then a processor is slower by half for some tens of
 *       milliseconds, and a reading that falls into them says nothing of the forms beside it.
 */
export interface Slowness {
  /** Takes the cost of the fixed work just now. */
  read(ms: number): void;
  /** 1 before anything was read. */
  readonly value: number;
  /** The least and the greatest of the last readings. */
  readonly spread: { readonly least: number; readonly most: number };
}

/** How many readings count. */
export const READINGS = 9;

export function createSlowness(referenceMs: number): Slowness {
  const last: number[] = [];
  const inOrder = (): readonly number[] => last.toSorted((left, right) => left - right);
  return {
    read: (ms) => {
      last.push(ms / referenceMs);
      if (last.length > READINGS) last.shift();
    },
    get value() {
      return inOrder()[Math.floor(last.length / 2)] ?? 1;
    },
    get spread() {
      const sorted = inOrder();
      return { least: sorted[0] ?? 1, most: sorted.at(-1) ?? 1 };
    },
  };
}
