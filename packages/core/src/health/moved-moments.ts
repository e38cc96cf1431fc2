/** What a process says of a destination whose clock is off, by another clock. */
import type { DestinationHealth, HealthOfUrl } from "./health-record.ts";

/** With every moment that much earlier; what is counted stays. */
export function movedBack(health: DestinationHealth, byMs: number): DestinationHealth {
  if (byMs === 0) return health;
  const moved = (atMs: number | null): number | null => (atMs === null ? null : atMs - byMs);
  const movedUrl = (url: HealthOfUrl): HealthOfUrl => ({
    ...url,
    openSinceMs: moved(url.openSinceMs),
    nextProbeMs: moved(url.nextProbeMs),
    notBeforeMs: moved(url.notBeforeMs),
    answer: url.answer === null ? null : { ...url.answer, atMs: url.answer.atMs - byMs },
  });
  return {
    ...health,
    countedSinceMs: health.countedSinceMs - byMs,
    deliveredAtMs: moved(health.deliveredAtMs),
    failedAtMs: moved(health.failedAtMs),
    failingSinceMs: moved(health.failingSinceMs),
    recoveredAtMs: moved(health.recoveredAtMs),
    urls: health.urls.map(movedUrl),
  };
}
