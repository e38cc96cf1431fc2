/** Random numbers that a seed decides, so that a run can be run again. */
export type Random = () => number;

/** Numbers from 0 up to but not including 1 (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from `low` to `high`, both of them possible. */
export function wholeBetween(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** Makes whole numbers from 0 up to but not including `below`. */
export type Choose = (below: number) => number;

export function createChoose(seed: number): Choose {
  const random = createRandom(seed);
  return (below) => Math.floor(random() * below);
}
