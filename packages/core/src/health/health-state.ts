/**
 * The state of a destination, by what all delivery processes say of it.
 *
 * HJ1  A destination is *off* when its configuration says so; else *open* while a breaker of any process is not closed;
 *      else *failing* when more than `FAILING_SHARE` of the attempts of five minutes failed, or the newest attempt
 *      failed; else *healthy*.
 * HJ2  The reason of a state is the newest failure: for *open* among the URLs whose breaker is not closed, for
 *      *failing* among all.
 */
import type { DestinationHealth, HealthOfUrl, LastAnswer } from "./health-record.ts";

/** The worst first, as lists show them. */
export const HEALTH_STATES = ["open", "failing", "healthy", "off"] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** How long an attempt counts towards the state. */
export const FAILING_WINDOW_MS = 5 * 60_000;
const FAILING_SHARE = 0.05;

/** The attempts of all processes within five minutes. */
export interface RecentAttempts {
  readonly delivered: number;
  readonly failed: number;
  /** Since when too many attempts fail, as far back as that is known; null where they do not. */
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
}

/** Whether so many failures among so many attempts make a destination failing (HJ1). */
export function isFailingShare({ delivered, failed }: Pick<RecentAttempts, "delivered" | "failed">): boolean {
  return failed > FAILING_SHARE * (delivered + failed);
}

/** HJ1. `held`: what each process that counts says. */
export function judgeHealth(
  destination: JudgedDestination,
  held: readonly DestinationHealth[],
  recent: RecentAttempts,
): JudgedHealth {
  const { isEnabled, updatedAtMs } = destination;
  if (!isEnabled) return { state: "off", sinceMs: updatedAtMs, reason: null, nextProbeMs: null };
  const urls = held.flatMap((each) => each.urls).filter(({ url }) => destination.urls.includes(url));
  const open = urls.filter(({ breaker }) => breaker !== "closed");
  if (open.length > 0) {
    return {
      state: "open",
      sinceMs: least(open.map(({ openSinceMs }) => openSinceMs)),
      reason: newestFailure(open),
      nextProbeMs: least(open.map(({ nextProbeMs }) => nextProbeMs)),
    };
  }
  const failingSinceMs = failingSince(held, recent);
  if (failingSinceMs !== null) {
    return { state: "failing", sinceMs: failingSinceMs, reason: newestFailure(urls), nextProbeMs: null };
  }
  const sinceMs = most(held.map(({ recoveredAtMs }) => recoveredAtMs));
  return { state: "healthy", sinceMs, reason: null, nextProbeMs: null };
}

/** Since when the destination is failing; null when it is not. */
function failingSince(held: readonly DestinationHealth[], recent: RecentAttempts): number | null {
  const deliveredAtMs = most(held.map((each) => each.deliveredAtMs)) ?? Number.NEGATIVE_INFINITY;
  const failedAtMs = most(held.map((each) => each.failedAtMs));
  if (failedAtMs !== null && failedAtMs > deliveredAtMs) {
    // A delivery of one process ends the failing of all.
    const firstMs = least(held.map(({ failingSinceMs }) => failingSinceMs)) ?? failedAtMs;
    const streakMs = firstMs > deliveredAtMs ? firstMs : failedAtMs;
    return least([streakMs, recent.failingSinceMs]);
  }
  return isFailingShare(recent) ? (recent.failingSinceMs ?? failedAtMs ?? deliveredAtMs) : null;
}

/** HJ2. */
function newestFailure(urls: readonly HealthOfUrl[]): HealthReason | null {
  let newest: HealthReason | null = null;
  for (const { url, answer } of urls) {
    if (answer === null || answer.outcome === "delivered") continue;
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
