/** Which destinations are written next: those whose state changed first, then those that were not written for long. */

/** At most this often a destination is written while its state stays. */
export const WRITE_INTERVAL_MS = 5000;

export interface WriteChoice {
  readonly destinationId: string;
  /** Its state is not what was written, or nothing was. */
  readonly isChanged: boolean;
  /** When it was written last, on the monotonic clock. */
  readonly writtenMs: number;
}

/** `most` at the most; within both kinds the one goes first that was written longest ago. */
export function planWrites(
  candidates: Iterable<WriteChoice>,
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): readonly WriteChoice[] {
  return [...candidates]
    .filter(({ isChanged, writtenMs }) => isChanged || nowMs - writtenMs >= WRITE_INTERVAL_MS)
    .sort((a, b) => Number(b.isChanged) - Number(a.isChanged) || a.writtenMs - b.writtenMs)
    .slice(0, most);
}
