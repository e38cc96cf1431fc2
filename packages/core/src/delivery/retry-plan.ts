/**
 * What follows when a delivery was not delivered: which retry topic it waits in, or why it waits no more.
 *
 * The retry window starts with the first failed attempt or the first putting-off, whichever is earlier (I3), and no
 * delay is taken that would pass its end. A retry topic holds one fixed delay, so a wait of any other length is made of
 * several (W5). Attempts use the schedule up one delay at a time; putting-off uses none of it.
 *
 * No attempt starts after the window's end, but the last one that a delivery is owed: one that was never attempted
 * (I3), or that waited for a receiver which asked for peace till the window's end or beyond (W5). The latter's is
 * planned so that it comes before the end, by the smallest tier, and is late only where its record or the room for it
 * is.
 */
import type { DeadLetterReason } from "./dead-letter.ts";
import type { DeliveryProgress } from "./delivery.ts";

export interface RetrySchedule {
  /** The delay before the second attempt, the third, and so on; at least one. */
  readonly delaysMs: readonly number[];
  readonly windowMs: number;
}

/** Wait in the retry topic of `delayMs`, with `progress` in the headers (W2). */
export interface RetryPlan {
  readonly kind: "retry";
  readonly delayMs: number;
  readonly progress: DeliveryProgress;
}

/** Waits no more: to the dead letters. */
export interface DeadPlan {
  readonly kind: "dead_letter";
  readonly reason: DeadLetterReason;
  readonly progress: DeliveryProgress;
}

/** The window ends and the delivery is owed an attempt: it is sent once, whatever stands against it. */
export interface LastAttemptPlan {
  readonly kind: "last_attempt";
  /** Says still that the attempt is owed, should there be no room for it now. */
  readonly progress: DeliveryProgress;
}

/** Waiting room is refilled from retry topics this often, so that a destination that recovered is served soon (I2). */
const LONGEST_QUICK_TIER_MS = 300_000;
/**
 * From so many waiting deliveries of one destination on, putting-off uses every tier: reading them all again every few
 * minutes would cost more than it brings (I2).
 */
const QUICK_WAITING_LIMIT = 100_000;

export interface FailedAttempt {
  readonly schedule: RetrySchedule;
  /** Before this attempt. */
  readonly progress: DeliveryProgress;
  readonly nowMs: number;
  /** From `Retry-After`, ms since the epoch; null when no receiver asked for peace. */
  readonly notBeforeMs: number | null;
  /** The URLs that the next attempt goes to; null for all. */
  readonly urls: readonly string[] | null;
}

/** What follows an attempt that failed for now. Its `progress` counts that attempt. */
export function planRetry({ schedule, progress, nowMs, notBeforeMs, urls }: FailedAttempt): RetryPlan | DeadPlan {
  const started = startWindow(progress, schedule, nowMs);
  const counted: DeliveryProgress = { ...started, attempts: progress.attempts + 1, notBeforeMs: null, urls };
  const scheduledMs = schedule.delaysMs[counted.attempts - 1];
  if (scheduledMs === undefined || nowMs + scheduledMs > started.deadlineMs) return expired(counted);
  if (notBeforeMs === null || notBeforeMs <= nowMs + scheduledMs) {
    return { kind: "retry", delayMs: scheduledMs, progress: counted };
  }
  const lastTryMs = lastTryOf(started, schedule);
  // It was tried once more already.
  if (notBeforeMs >= lastTryMs && wasAskedToOutwait(started, schedule)) return expired(counted);
  const cappedMs = Math.min(notBeforeMs, lastTryMs);
  const delayMs = Math.max(scheduledMs, tierTowards(cappedMs - nowMs, schedule));
  return { kind: "retry", delayMs, progress: { ...counted, notBeforeMs: cappedMs } };
}

export interface Deferral {
  readonly schedule: RetrySchedule;
  readonly progress: DeliveryProgress;
  readonly nowMs: number;
  /** The destination's gate is shut till then by `Retry-After`; null when it is not, or not for a known time. */
  readonly notBeforeMs: number | null;
  /** Deliveries of the destination that wait in retry topics, as far as this process knows (I2). */
  readonly waiting: number;
}

/**
 * What follows when a delivery is deferred without an attempt. Its `progress` counts the putting-off and no attempt.
 */
export function planDeferral(deferral: Deferral): RetryPlan | DeadPlan | LastAttemptPlan {
  const { schedule, progress, nowMs, waiting } = deferral;
  const started = startWindow(progress, schedule, nowMs);
  const wanted = latest(progress.notBeforeMs, deferral.notBeforeMs);
  const lastTryMs = lastTryOf(started, schedule);
  if (wanted !== null && wanted >= lastTryMs && nowMs < started.deadlineMs) {
    const owed = { ...started, notBeforeMs: lastTryMs };
    const tierMs = largestTier(schedule, lastTryMs - nowMs);
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
 * Waits for something that is nobody's fault but the operator's (a secret's key that this process lacks): the window
 * neither starts meanwhile nor ends before the delivery is back.
 */
export function planHold({ schedule, progress, nowMs }: Hold): RetryPlan {
  const plan = planAdmissionHold({ schedule, progress });
  const { deadlineMs } = plan.progress;
  if (deadlineMs === null) return plan;
  const backMs = nowMs + plan.delayMs + smallestTier(schedule);
  return { ...plan, progress: { ...plan.progress, deadlineMs: Math.max(deadlineMs, backMs) } };
}

/** Waits for room for the last attempt that it is owed, its window's end or none. */
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
 * A receiver that asks for more than the window is tried once more: at this moment or, as tiers are coarse, up to a
 * smallest tier before.
 */
function lastTryOf({ deadlineMs }: Started, schedule: RetrySchedule): number {
  return deadlineMs - smallestTier(schedule);
}

/**
 * True when the delivery waits, or waited, because a receiver asked for peace till so near the window's end that its
 * coming back may be late.
 */
function wasAskedToOutwait(started: Started, schedule: RetrySchedule): boolean {
  const { notBeforeMs } = started;
  return notBeforeMs !== null && notBeforeMs > lastTryOf(started, schedule) - smallestTier(schedule);
}

interface DeferralWait {
  readonly schedule: RetrySchedule;
  readonly deferrals: number;
  readonly nowMs: number;
  readonly notBeforeMs: number | null;
  readonly waiting: number;
}

/**
 * Towards a known moment as far as the tiers reach (W5); else longer with each putting-off, among the quick tiers while
 * few wait (I2).
 */
function deferralDelay({ schedule, deferrals, nowMs, notBeforeMs, waiting }: DeferralWait): number {
  if (notBeforeMs !== null) return tierTowards(notBeforeMs - nowMs, schedule);
  const tiers = waiting < QUICK_WAITING_LIMIT ? quickTiers(schedule) : allTiers(schedule);
  return tiers[Math.min(deferrals, tiers.length - 1)] ?? smallestTier(schedule);
}

/** The largest tier that does not overshoot, or the smallest when all do. */
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
