/** What an attempt's report means: for the delivery, what is published; for the destination, how it does. */

import type { Destination } from "@posthaste/core/config/destination";
import type { DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import { type AttemptOutcome, DELIVERED, earliest, type Settlement } from "@posthaste/core/delivery/outcome";
import { planRetry, type RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { AttemptReport, OutcomeDetails } from "@posthaste/webhook/report";
import type { FollowUp } from "./follow-up.ts";
import { owedUrls, removedUrls } from "./pending.ts";

export interface Attempted {
  readonly delivery: Delivery;
  /** Before the attempt. */
  readonly progress: DeliveryProgress;
  /** As it was when the attempt began. */
  readonly destination: Destination;
  readonly report: AttemptReport;
  /**
   * Under `settle: any`: when the URLs that the attempt left out may be called, ms since the epoch or null for a time that nobody
   * knows; empty when it called all.
   */
  readonly leftOutTillMs: readonly (number | null)[];
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
  const { delivery, progress, report, schedule, nowMs } = attempted;
  const { urls } = report;
  const settlement = withLeftOut(report.settlement, attempted.leftOutTillMs);
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
    // Under `any` too a delivery for some URLs, as a replay may be, stays with those.
    const owed = part.urls ?? progress.urls;
    const plan = planRetry({ schedule, progress, nowMs, notBeforeMs: part.notBeforeMs, urls: owed });
    if (plan.kind !== "retry") return bury(plan.reason, plan.progress, part.urls);
    const urlsNotBeforeMs = part.urls === null ? momentsOf(attempted) : null;
    return { ...plan, progress: { ...plan.progress, urlsNotBeforeMs } };
  });
  return [...dead, ...retries, ...buryRemoved(attempted)];
}

/** One dead letter for the URLs that were to be served and are the destination's no more, if there are such. */
export function buryRemoved({
  delivery,
  progress,
  destination,
}: Pick<Attempted, "delivery" | "progress" | "destination">): readonly FollowUp[] {
  const removed = removedUrls(destination, progress.urls);
  if (removed.length === 0) return NOTHING;
  const ofThem: DeliveryProgress = { ...progress, urls: removed };
  const lastAttempt = owedUrls(ofThem, destination);
  return [{ kind: "dead_letter", delivery, reason: "destination_removed", progress: ofThem, lastAttempt }];
}

/** What a request says about its URL's health. */
export function requestOutcome(outcome: AttemptOutcome, { error, status }: OutcomeDetails): RequestOutcome {
  if (outcome === "delivered") return "delivered";
  if (outcome === "permanent") return "refused";
  if (error === "timeout") return "timed_out";
  return status === 429 ? "throttled" : "failed";
}

/** An attempt that left URLs out has not failed for good, and waits for none that may be called earlier. */
function withLeftOut(settlement: Settlement, leftOutTillMs: readonly (number | null)[]): Settlement {
  if (leftOutTillMs.length === 0 || settlement === DELIVERED) return settlement;
  const moments = settlement.retries.map(({ notBeforeMs }) => notBeforeMs);
  const notBeforeMs = earliest([...moments, ...leftOutTillMs]);
  return { outcome: "retryable", retries: [{ urls: null, notBeforeMs }], dead: [] };
}

/** Under `settle: any`: what single URLs asked for, now or before, for whichever process makes the next attempt (W5). */
function momentsOf({ progress, report, nowMs }: Attempted): Readonly<Record<string, number>> | null {
  const before = Object.entries(progress.urlsNotBeforeMs ?? {}).filter(([, momentMs]) => momentMs > nowMs);
  const asked = report.urls.flatMap(({ url, notBeforeMs }) =>
    notBeforeMs === null ? [] : [[url, notBeforeMs] as const],
  );
  const moments = [...before, ...asked];
  return moments.length === 0 ? null : Object.fromEntries(moments);
}
