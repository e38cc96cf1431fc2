/**
 * The state of a destination, from the reports of all delivery processes.
 *
 * HJ1  A destination is *off* when its configuration says so; else *open* while a breaker of any process is not closed;
 *      else *failing* when more than `FAILING_SHARE` of the attempts of five minutes failed, or the newest attempt
 *      failed; else *healthy*. Attempts of processes that are gone count: a restart makes no destination healthy.
 * HJ2  The reason of a state is the newest failure: for *open* among the URLs whose breaker is not closed, for
 *      *failing* among all.
 * HJ3  A destination needs somebody while it is *open*, and while it is *failing*; but not once it delivers again and
 *      nothing is left to do: no dead letter is open, and either nothing waits or no attempt failed for `SURE_MS`. A
 *      receiver that fails now and then nearly always has something that waits for a retry.
 */
import type { DestinationHealth, HealthOfUrl, LastAnswer } from "./health-record.ts";
import { firstFailure, least, most, type PastAttempts } from "./past-attempts.ts";

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

/** HJ1. `held`: the report of each process that counts; `past`: the attempts that none of them reports. */
export function judgeHealth(
  destination: JudgedDestination,
  held: readonly DestinationHealth[],
  recent: RecentAttempts,
  past: PastAttempts | null = null,
): JudgedHealth {
  const { isEnabled, updatedAtMs } = destination;
  const nothing = { reason: null, nextProbeMs: null, deliversAgainSinceMs: null };
  if (!isEnabled) return { ...nothing, state: "off", sinceMs: updatedAtMs };
  const reports: readonly PastAttempts[] = past === null ? held : [...held, past];
  const urls = reports.flatMap((each) => each.urls).filter(({ url }) => destination.urls.includes(url));
  const open = urls.filter(({ breaker }) => breaker !== "closed");
  if (open.length > 0) {
    return {
      ...nothing,
      state: "open",
      // A breaker that opens again after a restart does not move the beginning of the failures.
      sinceMs: least([streakSince(reports), ...open.map(({ openSinceMs }) => openSinceMs)]),
      reason: newestFailure(open),
      nextProbeMs: least(open.map(({ nextProbeMs }) => nextProbeMs)),
    };
  }
  const failingSinceMs = failingSince(reports, recent);
  if (failingSinceMs !== null) {
    const deliversAgainSinceMs = deliversAgainSince(reports);
    return {
      ...nothing,
      state: "failing",
      sinceMs: failingSinceMs,
      reason: newestFailure(urls),
      deliversAgainSinceMs,
    };
  }
  const sinceMs = most(reports.map(({ recoveredAtMs }) => recoveredAtMs));
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
function failingSince(held: readonly PastAttempts[], recent: RecentAttempts): number | null {
  const streakMs = streakSince(held);
  if (streakMs !== null) {
    const { failingSinceMs: minuteMs } = recent;
    // A streak that began within that minute says the moment.
    return minuteMs === null || streakMs < minuteMs + MINUTE_MS ? streakMs : minuteMs;
  }
  if (!isFailingShare(recent)) return null;
  const [failedAtMs, deliveredAtMs] = [most(held.map(failedAt)), most(held.map(deliveredAt))];
  return recent.failingSinceMs ?? failedAtMs ?? deliveredAtMs ?? Number.NEGATIVE_INFINITY;
}

/** Since when every attempt failed; null where the newest one did not. A delivery of one process ends it for all. */
function streakSince(held: readonly PastAttempts[]): number | null {
  const [failedAtMs, deliveredAtMs] = [most(held.map(failedAt)), most(held.map(deliveredAt))];
  if (failedAtMs === null || failedAtMs <= (deliveredAtMs ?? Number.NEGATIVE_INFINITY)) return null;
  return firstFailure(held, deliveredAtMs) ?? failedAtMs;
}

/** Since when no attempt failed; null where the newest one did, or none is known that delivered. */
function deliversAgainSince(held: readonly PastAttempts[]): number | null {
  const [failedAtMs, deliveredAtMs] = [most(held.map(failedAt)), most(held.map(deliveredAt))];
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

function failedAt({ failedAtMs }: PastAttempts): number | null {
  return failedAtMs;
}

function deliveredAt({ deliveredAtMs }: PastAttempts): number | null {
  return deliveredAtMs;
}
