/** Which destinations are written next: first those whose state changed, then those that were written longest ago. */

/** The time between two records of a destination whose state does not change, at the least. */
export const WRITE_INTERVAL_MS = 5000;

export interface WriteChoice {
  readonly destinationId: string;
  /** The destination's state differs from the last record, or nothing was written. */
  readonly isChanged: boolean;
  /** When the destination was last written, on the monotonic clock. */
  readonly writtenMs: number;
}

/** Plans at most `most` writes; of each kind, the destination that was written longest ago goes first. */
export function planWrites(
  candidates: Iterable<WriteChoice>,
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): readonly WriteChoice[] {
  return [...candidates]
    .filter(({ isChanged, writtenMs }) => isChanged || nowMs - writtenMs >= WRITE_INTERVAL_MS)
    .sort((a, b) => Number(b.isChanged) - Number(a.isChanged) || a.writtenMs - b.writtenMs)
    .slice(0, most);
}
