/** A destination's attempts that no running delivery process reports: of processes that are gone, or of the log. */
import type { DestinationHealth, HealthOfUrl } from "./health-record.ts";

/** The moments of attempts, and the last answer of each URL. No breaker is open, and no request is under way. */
export type PastAttempts = Pick<
  DestinationHealth,
  "deliveredAtMs" | "failedAtMs" | "failingSinceMs" | "recoveredAtMs" | "urls"
>;

/** The past attempts in a process's report. */
export function pastOf({ deliveredAtMs, failedAtMs, failingSinceMs, recoveredAtMs, urls }: PastAttempts): PastAttempts {
  const answered = urls.flatMap(({ url, answer }) => (answer === null ? [] : [pastUrl(url, answer)]));
  return { deliveredAtMs, failedAtMs, failingSinceMs, recoveredAtMs, urls: answered };
}

/** A URL of which only the last answer is known. */
export function pastUrl(url: string, answer: HealthOfUrl["answer"]): HealthOfUrl {
  return {
    ...{ url, breaker: "closed", openSinceMs: null, nextProbeMs: null, notBeforeMs: null, inFlight: 0, answer },
  };
}

/** Joins what two say of the same destination. */
export function joinPast(one: PastAttempts, other: PastAttempts): PastAttempts {
  const both = [one, other];
  const deliveredAtMs = most(both.map((each) => each.deliveredAtMs));
  const urls = new Map<string, HealthOfUrl>();
  for (const url of both.flatMap((each) => each.urls)) {
    const held = urls.get(url.url);
    if (held === undefined || (url.answer?.atMs ?? -1) > (held.answer?.atMs ?? -1)) urls.set(url.url, url);
  }
  return {
    deliveredAtMs,
    failedAtMs: most(both.map((each) => each.failedAtMs)),
    failingSinceMs: firstFailure(both, deliveredAtMs),
    recoveredAtMs: most(both.map((each) => each.recoveredAtMs)),
    urls: [...urls.values()],
  };
}

/** The first known failure after the newest delivered attempt, ms since the epoch; null where none is known. */
export function firstFailure(
  reports: readonly Pick<PastAttempts, "failingSinceMs">[],
  deliveredAtMs: number | null,
): number | null {
  const afterMs = deliveredAtMs ?? Number.NEGATIVE_INFINITY;
  return least(reports.map(({ failingSinceMs }) => ((failingSinceMs ?? afterMs) > afterMs ? failingSinceMs : null)));
}

/** The earliest of these moments; null where none is known. */
export function least(moments: readonly (number | null)[]): number | null {
  return moments.reduce((found, each) => (each === null || (found !== null && found <= each) ? found : each), null);
}

/** The latest of these moments; null where none is known. */
export function most(moments: readonly (number | null)[]): number | null {
  return moments.reduce((found, each) => (each === null || (found !== null && found >= each) ? found : each), null);
}
