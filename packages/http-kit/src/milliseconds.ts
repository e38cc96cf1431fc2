/** Milliseconds rounded to tenths, for a person to read. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
