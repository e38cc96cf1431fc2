/** Milliseconds as a person reads them. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
