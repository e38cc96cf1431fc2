/** How many attempts a delivery has left that waits for its next one. */

export interface WaitingDelivery {
  /** Attempts that were made. */
  readonly tries: number;
  /** When the next one is due, and the end of the retry window, ms since the epoch; null where that is not known. */
  readonly dueAtMs: number;
  readonly deadlineMs: number | null;
}

/** The next one included, at the most: an attempt takes its time, and a deferral may come before it. */
export function attemptsLeft(
  { tries, dueAtMs, deadlineMs }: WaitingDelivery,
  retryDelaysMs: readonly number[],
): number {
  let [left, atMs] = [1, dueAtMs];
  for (const delayMs of retryDelaysMs.slice(tries)) {
    atMs += delayMs;
    if (deadlineMs !== null && atMs > deadlineMs) break;
    left += 1;
  }
  return left;
}
