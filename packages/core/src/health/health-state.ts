/**
 * The state of a destination, from the reports of all delivery processes.
 *
 * HJ1  A destination is *off* when its configuration says so; else *open* while a breaker of any process is not closed;
 *      else *failing* when more than `FAILING_SHARE` of the attempts of five minutes failed, or the newest attempt
 *      failed; else *healthy*.
 * HJ2  The reason of a state is the newest failure: for *open* among the URLs whose breaker is not closed, for
 *      *failing* among all.
 * HJ3  A destination needs somebody while it is *open*, and while it is *failing*; but not once it delivers again and
 *      nothing is left to do: no dead letter is open, and either nothing waits or no attempt failed for `SURE_MS`. A
 *      receiver that fails now and then nearly always has something that waits for a retry.
 */
import type { DestinationHealth, HealthOfUrl, LastAnswer } from "./health-record.ts";

/** The worst first, as lists show them. */
export const HEALTH_STATES = ["open", "failing", "healthy", "off"] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** How long an attempt counts towards the state. */
export const FAILING_WINDOW_MS = 5 * 60_000;
const FAILING_SHARE = 0.05;
const MINUTE_MS = 60_000;
/** How long no attempt must have failed while deliveries wait, in ms. */
const SURE_MS = 60_000;

/** The attempts of all processes within five minutes. */
export interface RecentAttempts {
  readonly delivered: number;
  readonly failed: number;
  /**
   * The minute since which too many attempts fail, by its start, as far back as that is known; null where they do not.
   */
  readonly failingSinceMs: number | null;
}

export interface JudgedDestination {
  readonly isEnabled: boolean;
  /** When the destination was last changed, in ms since the epoch. */
  readonly updatedAtMs: number;
  /** The URLs that the destination has now; other URLs do not count. */
  readonly urls: readonly string[];
}

/** Why a destination is in a state that needs somebody. */
export interface HealthReason extends LastAnswer {
  readonly url: string;
}

export interface JudgedHealth {
  readonly state: HealthState;
  /** Since when, in ms since the epoch; null for a destination that was always healthy, as far as that is known. */
  readonly sinceMs: number | null;
  readonly reason: HealthReason | null;
  /** The earliest probe, ms since the epoch; null where no breaker is open. */
  readonly nextProbeMs: number | null;
  /**
   * Since when no attempt failed, in ms since the epoch, of a failing destination whose newest attempt delivered; null
   * for any other.
   */
  readonly deliversAgainSinceMs: number | null;
}

/** The deliveries that a destination still owes; null where that is not known. */
export interface OwedDeliveries {
  /** Its dead letters that were not delivered since. */
  readonly openDeadLetters: number | null;
  /** Its deliveries that wait in retry topics. */
  readonly waiting: number | null;
}

/** Whether so many failures among so many attempts make a destination failing (HJ1). */
export function isFailingShare({ delivered, failed }: Pick<RecentAttempts, "delivered" | "failed">): boolean {
  return failed > FAILING_SHARE * (delivered + failed);
}

/** HJ1. `held`: the report of each process that counts. */
export function judgeHealth(
  destination: JudgedDestination,
  held: readonly DestinationHealth[],
  recent: RecentAttempts,
): JudgedHealth {
  const { isEnabled, updatedAtMs } = destination;
  const nothing = { reason: null, nextProbeMs: null, deliversAgainSinceMs: null };
  if (!isEnabled) return { ...nothing, state: "off", sinceMs: updatedAtMs };
  const urls = held.flatMap((each) => each.urls).filter(({ url }) => destination.urls.includes(url));
  const open = urls.filter(({ breaker }) => breaker !== "closed");
  if (open.length > 0) {
    return {
      ...nothing,
      state: "open",
      sinceMs: least(open.map(({ openSinceMs }) => openSinceMs)),
      reason: newestFailure(open),
      nextProbeMs: least(open.map(({ nextProbeMs }) => nextProbeMs)),
    };
  }
  const failingSinceMs = failingSince(held, recent);
  if (failingSinceMs !== null) {
    const deliversAgainSinceMs = deliversAgainSince(held);
    return {
      ...nothing,
      state: "failing",
      sinceMs: failingSinceMs,
      reason: newestFailure(urls),
      deliversAgainSinceMs,
    };
  }
  const sinceMs = most(held.map(({ recoveredAtMs }) => recoveredAtMs));
  return { ...nothing, state: "healthy", sinceMs };
}

/** Whether the destination delivers again though it counts as failing, so that HJ3 asks for its owed deliveries. */
export function isRecovered({ deliversAgainSinceMs }: JudgedHealth): boolean {
  return deliversAgainSinceMs !== null;
}

/** HJ3. */
export function needsAttention(
  { state, deliversAgainSinceMs }: JudgedHealth,
  { openDeadLetters, waiting }: OwedDeliveries,
  nowMs: number,
): boolean {
  if (state !== "open" && state !== "failing") return false;
  if (deliversAgainSinceMs === null || openDeadLetters !== 0) return true;
  return waiting !== 0 && nowMs - deliversAgainSinceMs < SURE_MS;
}

/** Since when the destination is failing; null when it is not. */
function failingSince(held: readonly DestinationHealth[], recent: RecentAttempts): number | null {
  const deliveredAtMs = most(held.map((each) => each.deliveredAtMs)) ?? Number.NEGATIVE_INFINITY;
  const failedAtMs = most(held.map((each) => each.failedAtMs));
  if (failedAtMs !== null && failedAtMs > deliveredAtMs) {
    // A delivery of one process ends the failing of all.
    const firstMs = least(held.map(({ failingSinceMs }) => failingSinceMs)) ?? failedAtMs;
    const streakMs = firstMs > deliveredAtMs ? firstMs : failedAtMs;
    const { failingSinceMs: minuteMs } = recent;
    // A streak that began within that minute says the moment.
    return minuteMs === null || streakMs < minuteMs + MINUTE_MS ? streakMs : minuteMs;
  }
  return isFailingShare(recent) ? (recent.failingSinceMs ?? failedAtMs ?? deliveredAtMs) : null;
}

/** Since when no attempt failed; null where the newest one did, or none is known that delivered. */
function deliversAgainSince(held: readonly DestinationHealth[]): number | null {
  const deliveredAtMs = most(held.map((each) => each.deliveredAtMs));
  const failedAtMs = most(held.map((each) => each.failedAtMs));
  if (deliveredAtMs === null || failedAtMs === null) return deliveredAtMs;
  if (failedAtMs > deliveredAtMs) return null;
  // A process that delivered throughout did not recover, though another process failed.
  const recovered = held.map(({ recoveredAtMs }) => recoveredAtMs).filter((ms) => ms !== null && ms >= failedAtMs);
  return least(recovered) ?? failedAtMs;
}

/** HJ2. */
function newestFailure(urls: readonly HealthOfUrl[]): HealthReason | null {
  let newest: HealthReason | null = null;
  for (const { url, answer } of urls) {
    // An answer that went over its budget is a failure of its URL, also after a good status.
    if (answer === null || (answer.outcome === "delivered" && answer.error === null)) continue;
    if (newest === null || answer.atMs > newest.atMs) newest = { ...answer, url };
  }
  return newest;
}

function least(moments: readonly (number | null)[]): number | null {
  return moments.reduce((found, each) => (each === null || (found !== null && found <= each) ? found : each), null);
}

function most(moments: readonly (number | null)[]): number | null {
  return moments.reduce((found, each) => (each === null || (found !== null && found >= each) ? found : each), null);
}
