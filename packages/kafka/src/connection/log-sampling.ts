/**
 * Whether to log the n-th failure in a row (`failures` = n, from 1): true for the first and each time the count has
 * doubled. So a long failure stays visible without filling the log.
 */
export function isSampledFailure(failures: number): boolean {
  // A power of two has one bit.
  return (failures & (failures - 1)) === 0;
}
