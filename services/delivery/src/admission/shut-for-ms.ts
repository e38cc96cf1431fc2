/**
 * For how many ms a URL is not called whose receiver asked for that until `notBeforeMs` (W5); 0 and less for a moment
 * that is past. No URL is left alone for longer than a retry window, whatever its receiver asks for. All arguments are
 * in ms, the first two since the epoch.
 */
export function shutForMs(notBeforeMs: number, nowMs: number, retryWindowMs: number): number {
  return Math.min(notBeforeMs - nowMs, retryWindowMs);
}
