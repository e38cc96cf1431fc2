/** Moves the moments of a process's report from that process's clock, which may be off, to another clock. */
import type { DestinationHealth, HealthOfUrl } from "./health-record.ts";

/** Moves every moment back by `byMs`; counts stay. */
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
