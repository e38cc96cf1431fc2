/** What an attempt's report means: for the delivery, what is published; for the destination, how it does. */
import type { DeadLetterReason } from "@posthaste/core/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery";
import type { Destination } from "@posthaste/core/destination";
import type { RoomOutcome } from "@posthaste/core/destination-room";
import { DELIVERED } from "@posthaste/core/outcome";
import { planRetry, type RetrySchedule } from "@posthaste/core/retry-plan";
import type { AttemptReport, UrlResult } from "@posthaste/webhook/report";
import type { FollowUp } from "./follow-up.ts";
import { owedUrls, removedUrls } from "./pending.ts";

export interface Attempted {
  readonly delivery: Delivery;
  /** Before the attempt. */
  readonly progress: DeliveryProgress;
  /** As it was when the attempt began. */
  readonly destination: Destination;
  readonly report: AttemptReport;
  readonly schedule: RetrySchedule;
  readonly nowMs: number;
}

const NOTHING: readonly FollowUp[] = [];

/**
 * What is published because of an attempt; nothing when it was delivered. Under `settle: each` possibly several things: one
 * of them is a dead letter for the URLs that were to be served and are the destination's no more. Retries do not name those
 * again, so they are told of once.
 */
export function planFollowUps(attempted: Attempted): readonly FollowUp[] {
  const { delivery, progress, destination, report, schedule, nowMs } = attempted;
  const { settlement, urls } = report;
  if (settlement === DELIVERED && progress.urls === null) return NOTHING;
  const bury = (reason: DeadLetterReason, after: DeliveryProgress, only: readonly string[] | null): FollowUp => ({
    kind: "dead_letter",
    delivery,
    reason,
    progress: after,
    lastAttempt: only === null ? urls : urls.filter(({ url }) => only.includes(url)),
  });
  const counted: DeliveryProgress = { ...progress, attempts: progress.attempts + 1 };
  const dead = settlement.dead.map((part) => bury(part.reason, counted, part.urls));
  const retries = settlement.retries.map((part) => {
    const plan = planRetry({ schedule, progress, nowMs, notBeforeMs: part.notBeforeMs, urls: part.urls });
    return plan.kind === "retry" ? plan : bury(plan.reason, plan.progress, part.urls);
  });
  const removed = removedUrls(destination, progress.urls);
  if (removed.length === 0) return [...dead, ...retries];
  const gone: FollowUp = {
    kind: "dead_letter",
    delivery,
    reason: "destination_removed",
    progress: { ...progress, urls: removed },
    lastAttempt: owedUrls({ ...progress, urls: removed }, destination),
  };
  return [...dead, ...retries, gone];
}

/** What the attempt says about the destination's health. Under `each` one URL that takes deliveries shows that it lives. */
export function roomOutcome({ settlement, urls }: AttemptReport): RoomOutcome {
  if (settlement.outcome === "delivered" || urls.some(({ outcome }) => outcome === "delivered")) return "delivered";
  if (settlement.outcome === "permanent") return "refused";
  return urls.some(isCongestion) ? "congested" : "failed";
}

/** The latest moment that a receiver asked to be left alone till, ms since the epoch; null when none did. */
export function latestNotBefore({ settlement }: AttemptReport): number | null {
  let latest: number | null = null;
  for (const { notBeforeMs } of settlement.retries) {
    if (notBeforeMs !== null && (latest === null || notBeforeMs > latest)) latest = notBeforeMs;
  }
  return latest;
}

function isCongestion({ error, status }: UrlResult): boolean {
  return error === "timeout" || status === 429;
}
