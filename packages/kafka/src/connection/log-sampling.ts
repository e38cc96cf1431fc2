/**
 * Whether the n-th failure in a row (n from 1) is worth a log line: the first is, and each that doubles the count. A
 * long failure is seen to go on without filling the log.
 */
export function isSampledFailure(failures: number): boolean {
  // A power of two has one bit.
  return (failures & (failures - 1)) === 0;
}
