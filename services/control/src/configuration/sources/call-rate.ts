/** How many calls of a source ingest accepted per second. */
import type { ListedActivity } from "@posthaste/read-model/activity-entry";

/**
 * Ingest reports its counts every ten seconds, and control has to read them: the counts of the last 15 s are not
 * complete.
 */
const REPORTED_AFTER_MS = 15_000;
const WINDOW_MS = 60_000;

/** The rate needs every activity that ended at this moment or later. */
export function rateSinceMs(nowMs: number): number {
  return nowMs - REPORTED_AFTER_MS - WINDOW_MS;
}

/**
 * The rate over the newest minute that ingest has reported. It takes each process's counts as if spread evenly over the
 * time they cover.
 */
export function callsPerSecond(
  activities: readonly Pick<ListedActivity, "sinceMs" | "untilMs" | "accepted">[],
  nowMs: number,
): number {
  const [fromMs, toMs] = [rateSinceMs(nowMs), nowMs - REPORTED_AFTER_MS];
  let calls = 0;
  for (const { sinceMs, untilMs, accepted } of activities) {
    const withinMs = Math.min(untilMs, toMs) - Math.max(sinceMs, fromMs);
    if (withinMs > 0) calls += (accepted * withinMs) / (untilMs - sinceMs);
  }
  return calls / (WINDOW_MS / 1000);
}
