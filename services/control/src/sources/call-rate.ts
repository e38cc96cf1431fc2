/** How many calls of a source were taken a second. */
import type { ListedActivity } from "../read-model/activity-entry.ts";

/** Ingest tells what it counted every ten seconds, and it has to be read: of the newest of all not all is known. */
const TOLD_AFTER_MS = 15_000;
const WINDOW_MS = 60_000;

/** What has to be known for the rate: activity that ended then or later. */
export function rateSinceMs(nowMs: number): number {
  return nowMs - TOLD_AFTER_MS - WINDOW_MS;
}

/** Of the newest minute that ingest has told of. Each process's counts are as if spread evenly over their time. */
export function callsPerSecond(
  activities: readonly Pick<ListedActivity, "sinceMs" | "untilMs" | "accepted">[],
  nowMs: number,
): number {
  const [fromMs, toMs] = [rateSinceMs(nowMs), nowMs - TOLD_AFTER_MS];
  let calls = 0;
  for (const { sinceMs, untilMs, accepted } of activities) {
    const withinMs = Math.min(untilMs, toMs) - Math.max(sinceMs, fromMs);
    if (withinMs > 0) calls += (accepted * withinMs) / (untilMs - sinceMs);
  }
  return calls / (WINDOW_MS / 1000);
}
