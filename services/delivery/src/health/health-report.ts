/** The health of a destination as this process reports it: its counts, and admission's state of the URLs. */
import type { DestinationHealth, HealthOfUrl } from "@posthaste/core/health/health-record";
import type { UrlHealth } from "@posthaste/core/isolation/url-health";
import type { DestinationCounts } from "./health-counts.ts";

/** One moment on both clocks. */
export interface HealthMoment {
  /** Ms since the epoch. */
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Admission's state of an active destination. */
export interface ActiveHealth {
  readonly urls: readonly Pick<UrlHealth, "url" | "breaker" | "shutUntilMs" | "out">[];
  readonly waiting: number;
}

/** `active`: undefined for a destination that admission forgot; nothing stands against its URLs then. */
export function toDestinationHealth(
  counts: DestinationCounts,
  active: ActiveHealth | undefined,
  moment: HealthMoment,
): DestinationHealth {
  const { delivered, retryable, permanent, deferred, latencies } = counts;
  const { countedSinceMs, deliveredAtMs, failedAtMs, failingSinceMs, recoveredAtMs, answers, failures } = counts;
  return {
    ...{ delivered, retryable, permanent, deferred: { ...deferred }, latencies: [...latencies] },
    countedSinceMs: Math.round(countedSinceMs),
    deliveredAtMs: whole(deliveredAtMs),
    failedAtMs: whole(failedAtMs),
    failingSinceMs: whole(failingSinceMs),
    recoveredAtMs: whole(recoveredAtMs),
    waiting: active?.waiting ?? 0,
    failures: Array.from(failures.values(), (each) => ({ ...each })),
    urls:
      active === undefined
        ? [...answers.keys()].map((url) => ({ ...NOTHING_KNOWN, url, answer: answerOf(counts, url) }))
        : active.urls.map((health) => ({ ...healthOfUrl(health, moment), answer: answerOf(counts, health.url) })),
  };
}

/**
 * The signature of the state: a number that differs where the state does, by which breakers are not closed, which
 * receivers sent a `Retry-After`, and whether attempts fail.
 */
export function stateSignature(
  counts: Pick<DestinationCounts, "failingSinceMs">,
  active: Pick<ActiveHealth, "urls"> | undefined,
  { monotonicMs }: Pick<HealthMoment, "monotonicMs">,
): number {
  let signature = counts.failingSinceMs === null ? 0 : 1;
  for (const { breaker, shutUntilMs } of active?.urls ?? []) {
    signature = signature * 4 + (breaker.state === "closed" ? 0 : 2) + (shutUntilMs > monotonicMs ? 1 : 0);
  }
  return signature;
}

const NOTHING_KNOWN = {
  breaker: "closed",
  openSinceMs: null,
  nextProbeMs: null,
  notBeforeMs: null,
  inFlight: 0,
} satisfies Partial<HealthOfUrl>;

function healthOfUrl(
  { url, breaker, shutUntilMs, out }: ActiveHealth["urls"][number],
  { nowMs, monotonicMs }: HealthMoment,
): Omit<HealthOfUrl, "answer"> {
  const sinceEpoch = (ms: number | null): number | null => (ms === null ? null : Math.round(nowMs + ms - monotonicMs));
  return {
    url,
    breaker: breaker.state,
    openSinceMs: sinceEpoch(breaker.openedMs),
    nextProbeMs: sinceEpoch(breaker.nextProbeMs),
    notBeforeMs: shutUntilMs > monotonicMs ? sinceEpoch(shutUntilMs) : null,
    inFlight: out,
  };
}

function answerOf({ answers }: DestinationCounts, url: string): HealthOfUrl["answer"] {
  const answer = answers.get(url);
  return answer === undefined ? null : { ...answer, atMs: Math.round(answer.atMs) };
}

function whole(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
