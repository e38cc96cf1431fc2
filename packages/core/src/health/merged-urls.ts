/** Merges the reports of several processes on the URLs of one destination. */
import type { BreakerState } from "../isolation/circuit-breaker.ts";
import type { DestinationHealth, HealthOfUrl } from "./health-record.ts";

/** The worst last. */
const BREAKERS = ["closed", "half_open", "open"] as const satisfies readonly BreakerState[];

/**
 * Merges the health of these URLs, in their order: the worst breaker, the earliest moment at which one opened and at
 * which one may probe, the longest `Retry-After`, the newest answer, and the sum of the requests that are out.
 */
export function mergeUrls(
  urls: readonly string[],
  held: readonly Pick<DestinationHealth, "urls">[],
): readonly HealthOfUrl[] {
  const all = held.flatMap((each) => each.urls);
  return urls.map((url) => all.filter((each) => each.url === url).reduce(merge, { ...NOTHING, url }));
}

const NOTHING: Omit<HealthOfUrl, "url"> = {
  breaker: "closed",
  openSinceMs: null,
  nextProbeMs: null,
  notBeforeMs: null,
  inFlight: 0,
  answer: null,
};

function merge(one: HealthOfUrl, other: HealthOfUrl): HealthOfUrl {
  return {
    url: one.url,
    breaker: rankOf(other.breaker) > rankOf(one.breaker) ? other.breaker : one.breaker,
    openSinceMs: choose(one.openSinceMs, other.openSinceMs, Math.min),
    nextProbeMs: choose(one.nextProbeMs, other.nextProbeMs, Math.min),
    notBeforeMs: choose(one.notBeforeMs, other.notBeforeMs, Math.max),
    inFlight: one.inFlight + other.inFlight,
    answer: (other.answer?.atMs ?? -1) > (one.answer?.atMs ?? -1) ? other.answer : one.answer,
  };
}

/** A state of a later release ranks between half open and open. */
function rankOf(breaker: HealthOfUrl["breaker"]): number {
  return breaker === "other" ? 1.5 : BREAKERS.indexOf(breaker);
}

function choose(one: number | null, other: number | null, of: (one: number, other: number) => number): number | null {
  if (one === null) return other;
  return other === null ? one : of(one, other);
}
