/** Follow-ups: the records that are published because of an attempt, or instead of one. */

import type { Destination } from "@posthaste/core/config/destination";
import { addAttempt } from "@posthaste/core/delivery/attempt-history";
import type { DeadLetterReason, DeadUrl } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import { DELIVERED, earliest, type Settlement } from "@posthaste/core/delivery/outcome";
import { planRetry, type RetryPlan, type RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { AttemptReport } from "@posthaste/webhook/report";
import { owedUrls, removedUrls } from "../check/checked-delivery.ts";

/** A delivery, or some of its URLs, given up. */
export interface DeadLetterFollowUp {
  readonly kind: "dead_letter";
  readonly delivery: Delivery;
  readonly reason: DeadLetterReason;
  readonly progress: DeliveryProgress;
  /** The answers of the URLs in the attempt that ended the delivery; empty when there was none. */
  readonly lastAttempt: readonly DeadUrl[];
}

export type FollowUp = RetryPlan | DeadLetterFollowUp;

export interface Attempted {
  readonly delivery: Delivery;
  /** The progress before the attempt. */
  readonly progress: DeliveryProgress;
  /** The destination as it was when the attempt began. */
  readonly destination: Destination;
  readonly report: AttemptReport;
  /**
   * Under `settle: any`: when each URL that the attempt skipped may be called, in ms since the epoch, or null for a
   * URL without a `Retry-After`; empty when the attempt called all.
   */
  readonly skippedTillMs: readonly (number | null)[];
  readonly schedule: RetrySchedule;
  readonly nowMs: number;
}

const NOTHING: readonly FollowUp[] = [];

/**
 * Plans the follow-ups of an attempt: none when it delivered. Under `settle: each` there may be several, among them a
 * dead letter for the URLs that are owed and that the destination no longer has. No retry names those URLs again, so
 * that they become a dead letter once.
 */
export function planFollowUps(attempted: Attempted): readonly FollowUp[] {
  const { delivery, report, schedule, nowMs } = attempted;
  const { urls } = report;
  const settlement = withSkipped(report.settlement, attempted.skippedTillMs);
  if (settlement === DELIVERED) return planRemovedUrls(attempted);
  const progress = addAttempt(attempted.progress, report);
  const deadLetter = (reason: DeadLetterReason, after: DeliveryProgress, only: readonly string[] | null): FollowUp => ({
    kind: "dead_letter",
    delivery,
    reason,
    progress: after,
    lastAttempt: only === null ? urls : urls.filter(({ url }) => only.includes(url)),
  });
  const counted: DeliveryProgress = { ...progress, attempts: progress.attempts + 1 };
  const dead = settlement.dead.map((part) => deadLetter(part.reason, counted, part.urls));
  const retries = settlement.retries.map((part) => {
    // A delivery for some URLs, as a replay may be, keeps to those under `settle: any` too.
    const owed = part.urls ?? progress.urls;
    const plan = planRetry({ schedule, progress, nowMs, notBeforeMs: part.notBeforeMs, urls: owed });
    if (plan.kind !== "retry") return deadLetter(plan.reason, plan.progress, part.urls);
    const urlsNotBeforeMs = part.urls === null ? momentsOf(attempted) : null;
    return { ...plan, progress: { ...plan.progress, urlsNotBeforeMs } };
  });
  return [...dead, ...retries, ...planRemovedUrls(attempted)];
}

/** Plans one dead letter for the URLs that are owed and that the destination no longer has, if there are any. */
export function planRemovedUrls({
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

/**
 * The settlement of an attempt that left URLs out: it has not failed for good, and its delivery waits until the first
 * of all its URLs may be called, and no longer.
 */
function withSkipped(settlement: Settlement, skippedTillMs: readonly (number | null)[]): Settlement {
  if (skippedTillMs.length === 0 || settlement === DELIVERED) return settlement;
  const moments = settlement.retries.map(({ notBeforeMs }) => notBeforeMs);
  const notBeforeMs = earliest([...moments, ...skippedTillMs]);
  return { outcome: "retryable", retries: [{ urls: null, notBeforeMs }], dead: [] };
}

/**
 * Under `settle: any`: until when single URLs are not to be called, by a `Retry-After` of this attempt or an earlier
 * one, in ms since the epoch. The retry record carries it to whichever process makes the next attempt (W5). Null for
 * none.
 */
function momentsOf({ progress, report, nowMs }: Attempted): Readonly<Record<string, number>> | null {
  const before = Object.entries(progress.urlsNotBeforeMs ?? {}).filter(([, momentMs]) => momentMs > nowMs);
  const asked = report.urls.flatMap(({ url, notBeforeMs }) =>
    notBeforeMs === null ? [] : [[url, notBeforeMs] as const],
  );
  const moments = [...before, ...asked];
  return moments.length === 0 ? null : Object.fromEntries(moments);
}
