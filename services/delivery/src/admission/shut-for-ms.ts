/**
 * For how many ms a URL is not called whose receiver asked for that until `notBeforeMs` (W5); 0 or less when that
 * moment is past. The longest time is a retry window, whatever the receiver asks for. All arguments are in ms, the
 * first two since the epoch.
 */
export function shutForMs(notBeforeMs: number, nowMs: number, retryWindowMs: number): number {
  return Math.min(notBeforeMs - nowMs, retryWindowMs);
}
