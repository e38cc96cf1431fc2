/**
 * The plan for a delivery that was not delivered: the retry topic that it waits in, or the reason of its dead letter.
 *
 * The retry window starts with the first failed attempt or the first deferral, whichever is earlier (I3), and no delay
 * is chosen that would pass its end. A retry topic has one fixed delay, so that any other wait is made of several (W5).
 * Attempts use up the schedule one delay at a time; deferrals use none of it.
 *
 * No attempt starts after the window's end but the last attempt that a delivery is owed: because it was never attempted
 * (I3), or because it waited for a receiver whose `Retry-After` ends with the window or beyond (W5). A last attempt of
 * the second kind is planned for the smallest tier before the end, and is late only where its record or its permit is.
 */
import type { DeadLetterReason } from "./dead-letter.ts";
import type { DeliveryProgress } from "./delivery.ts";

export interface RetrySchedule {
  /** The delay before the second attempt, the third, and so on; at least one. */
  readonly delaysMs: readonly number[];
  readonly windowMs: number;
}

/** The delivery waits in the retry topic of `delayMs`, with `progress` in the headers (W2). */
export interface RetryPlan {
  readonly kind: "retry";
  readonly delayMs: number;
  readonly progress: DeliveryProgress;
}

/** The delivery waits no more and goes to the dead letters. */
export interface DeadPlan {
  readonly kind: "dead_letter";
  readonly reason: DeadLetterReason;
  readonly progress: DeliveryProgress;
}

/** The retry window ends and the delivery is owed an attempt: it is sent once, whatever stands against it. */
export interface LastAttemptPlan {
  readonly kind: "last_attempt";
  /** Still says that the attempt is owed, in case the attempt gets no permit now. */
  readonly progress: DeliveryProgress;
}

/**
 * While few deliveries wait, a deferred one comes back after this delay at the latest, so that a destination that
 * recovered is served soon (I2).
 */
const LONGEST_QUICK_TIER_MS = 300_000;
/**
 * From this many waiting deliveries of one destination on, deferrals use every tier: reading all of them again every
 * few minutes would cost more than it brings (I2).
 */
const QUICK_WAITING_LIMIT = 100_000;

export interface FailedAttempt {
  readonly schedule: RetrySchedule;
  /** The progress before this attempt. */
  readonly progress: DeliveryProgress;
  readonly nowMs: number;
  /** From `Retry-After`, ms since the epoch; null when no receiver sent one. */
  readonly notBeforeMs: number | null;
  /** The URLs that the next attempt calls; null for all. */
  readonly urls: readonly string[] | null;
}

/** Plans the follow-up of an attempt that failed and may work later. The plan's `progress` counts that attempt. */
export function planRetry({ schedule, progress, nowMs, notBeforeMs, urls }: FailedAttempt): RetryPlan | DeadPlan {
  const started = startWindow(progress, schedule, nowMs);
  const counted: DeliveryProgress = { ...started, attempts: progress.attempts + 1, notBeforeMs: null, urls };
  const scheduledMs = schedule.delaysMs[counted.attempts - 1];
  if (scheduledMs === undefined || nowMs + scheduledMs > started.deadlineMs) return expired(counted);
  if (notBeforeMs === null || notBeforeMs <= nowMs + scheduledMs) {
    return { kind: "retry", delayMs: scheduledMs, progress: counted };
  }
  const lastAttemptMs = lastAttemptOf(started, schedule);
  // This attempt was the last one.
  if (notBeforeMs >= lastAttemptMs && wasAskedToOutwait(started, schedule)) return expired(counted);
  const cappedMs = Math.min(notBeforeMs, lastAttemptMs);
  const delayMs = Math.max(scheduledMs, tierTowards(cappedMs - nowMs, schedule));
  return { kind: "retry", delayMs, progress: { ...counted, notBeforeMs: cappedMs } };
}

export interface Deferral {
  readonly schedule: RetrySchedule;
  readonly progress: DeliveryProgress;
  readonly nowMs: number;
  /**
   * The end of the destination's `Retry-After`, in ms since the epoch; null when none is running, or its end is not
   * known.
   */
  readonly notBeforeMs: number | null;
  /** How many deliveries of the destination wait in retry topics, as far as this process knows (I2). */
  readonly waiting: number;
}

/** Plans the follow-up of a deferral. The progress of a retry counts the deferral and no attempt. */
export function planDeferral(deferral: Deferral): RetryPlan | DeadPlan | LastAttemptPlan {
  const { schedule, progress, nowMs, waiting } = deferral;
  const started = startWindow(progress, schedule, nowMs);
  const wanted = latest(progress.notBeforeMs, deferral.notBeforeMs);
  const lastAttemptMs = lastAttemptOf(started, schedule);
  if (wanted !== null && wanted >= lastAttemptMs && nowMs < started.deadlineMs) {
    const owed = { ...started, notBeforeMs: lastAttemptMs };
    const tierMs = largestTier(schedule, lastAttemptMs - nowMs);
    if (tierMs === null) return { kind: "last_attempt", progress: owed };
    return { kind: "retry", delayMs: tierMs, progress: { ...owed, deferrals: progress.deferrals + 1 } };
  }
  const notBeforeMs = wanted === null || wanted <= nowMs ? null : wanted;
  const delayMs = deferralDelay({ schedule, deferrals: progress.deferrals, nowMs, notBeforeMs, waiting });
  const fittingMs = largestTier(schedule, Math.min(delayMs, started.deadlineMs - nowMs));
  if (fittingMs !== null) {
    return {
      kind: "retry",
      delayMs: fittingMs,
      progress: { ...started, deferrals: progress.deferrals + 1, notBeforeMs },
    };
  }
  const isOwed = started.attempts === 0 || wasAskedToOutwait(started, schedule);
  return isOwed ? { kind: "last_attempt", progress: started } : expired(started);
}

export interface Hold {
  readonly schedule: RetrySchedule;
  readonly progress: DeliveryProgress;
  readonly nowMs: number;
}

/**
 * Holds a delivery until the operator has mended a fault that only an operator can mend (this process lacks a secret's
 * key). The retry window does not start meanwhile, and does not end before the delivery is back.
 */
export function planHold({ schedule, progress, nowMs }: Hold): RetryPlan {
  const plan = planAdmissionHold({ schedule, progress });
  const { deadlineMs } = plan.progress;
  if (deadlineMs === null) return plan;
  const backMs = nowMs + plan.delayMs + smallestTier(schedule);
  return { ...plan, progress: { ...plan.progress, deadlineMs: Math.max(deadlineMs, backMs) } };
}

/** Has a last attempt that got no permit wait, whether its delivery's retry window is over or not. */
export function planAdmissionHold({ schedule, progress }: Omit<Hold, "nowMs">): RetryPlan {
  const tiers = quickTiers(schedule);
  const delayMs = tiers[Math.min(progress.deferrals, tiers.length - 1)] ?? smallestTier(schedule);
  return { kind: "retry", delayMs, progress: { ...progress, deferrals: progress.deferrals + 1 } };
}

/** True when the retry window is over. */
export function isWindowOver(progress: DeliveryProgress, nowMs: number): boolean {
  return progress.deadlineMs !== null && nowMs >= progress.deadlineMs;
}

type Started = DeliveryProgress & { readonly windowStartMs: number; readonly deadlineMs: number };

function startWindow(progress: DeliveryProgress, { windowMs }: RetrySchedule, nowMs: number): Started {
  const windowStartMs = progress.windowStartMs ?? nowMs;
  return { ...progress, windowStartMs, deadlineMs: progress.deadlineMs ?? windowStartMs + windowMs };
}

function expired(progress: DeliveryProgress): DeadPlan {
  return { kind: "dead_letter", reason: "window_expired", progress };
}

/**
 * When a receiver whose `Retry-After` goes beyond the window is called for the last time. The attempt comes then or up
 * to a smallest tier earlier, since tiers are coarse.
 */
function lastAttemptOf({ deadlineMs }: Started, schedule: RetrySchedule): number {
  return deadlineMs - smallestTier(schedule);
}

/**
 * Whether the delivery waits, or waited, for a `Retry-After` that ends so near the window's end that its last attempt
 * may be late.
 */
function wasAskedToOutwait(started: Started, schedule: RetrySchedule): boolean {
  const { notBeforeMs } = started;
  return notBeforeMs !== null && notBeforeMs > lastAttemptOf(started, schedule) - smallestTier(schedule);
}

interface DeferralWait {
  readonly schedule: RetrySchedule;
  readonly deferrals: number;
  readonly nowMs: number;
  readonly notBeforeMs: number | null;
  readonly waiting: number;
}

/**
 * The delay of a deferral: towards a known moment as far as the tiers reach (W5); otherwise longer with each deferral,
 * by the quick tiers alone while few deliveries wait (I2).
 */
function deferralDelay({ schedule, deferrals, nowMs, notBeforeMs, waiting }: DeferralWait): number {
  if (notBeforeMs !== null) return tierTowards(notBeforeMs - nowMs, schedule);
  const tiers = waiting < QUICK_WAITING_LIMIT ? quickTiers(schedule) : allTiers(schedule);
  return tiers[Math.min(deferrals, tiers.length - 1)] ?? smallestTier(schedule);
}

/** The largest tier that does not pass `waitMs`, or the smallest tier when all do. */
function tierTowards(waitMs: number, schedule: RetrySchedule): number {
  return largestTier(schedule, waitMs) ?? smallestTier(schedule);
}

function largestTier({ delaysMs }: RetrySchedule, limitMs: number): number | null {
  let largest: number | null = null;
  for (const delayMs of delaysMs) {
    if (delayMs <= limitMs && (largest === null || delayMs > largest)) largest = delayMs;
  }
  return largest;
}

function smallestTier({ delaysMs }: RetrySchedule): number {
  return delaysMs.reduce((least, delayMs) => Math.min(least, delayMs));
}

function allTiers({ delaysMs }: RetrySchedule): readonly number[] {
  return [...new Set(delaysMs)].sort((a, b) => a - b);
}

function quickTiers(schedule: RetrySchedule): readonly number[] {
  const tiers = allTiers(schedule);
  const quick = tiers.filter((delayMs) => delayMs <= LONGEST_QUICK_TIER_MS);
  return quick.length > 0 ? quick : tiers.slice(0, 1);
}

function latest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
