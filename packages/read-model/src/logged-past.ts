/** The past attempts of a destination, as the attempt log has them. */
import type { UrlAttempt } from "@posthaste/core/delivery/attempt-record";
import { type PastAttempts, pastUrl } from "@posthaste/core/health/past-attempts";
import { attemptFromEntry } from "./attempt-entry.ts";
import type { LastAttempts } from "./last-attempts.ts";
import type { ProjectionEntry } from "./projection-entry.ts";

/** The moments are the ends of the attempts, of which the log has the starts. */
export function pastFrom({ delivered, failed, recovered, firstFailed }: LastAttempts): PastAttempts {
  const newest = [failed, delivered].flatMap((entry) => (entry === null ? [] : [attemptFromEntry(entry)]));
  const answers = newest.flatMap(({ startedAtMs, outcome, urls }) =>
    urls.map((url) => ({ startedAtMs, outcome, url })),
  );
  const byUrl = new Map<string, PastAttempts["urls"][number]>();
  for (const { startedAtMs, outcome, url } of answers) {
    const atMs = startedAtMs + url.durationMs;
    if (atMs < (byUrl.get(url.url)?.answer?.atMs ?? 0)) continue;
    byUrl.set(url.url, pastUrl(url.url, { ...answerOf(url, outcome), atMs }));
  }
  return {
    ...{ deliveredAtMs: endOf(delivered), failedAtMs: endOf(failed) },
    ...{ failingSinceMs: endOf(firstFailed), recoveredAtMs: endOf(recovered), urls: [...byUrl.values()] },
  };
}

/** A URL that answered with 2xx delivered, also where another URL made the attempt fail. */
function answerOf({ status, error, durationMs }: UrlAttempt, outcome: string) {
  const isDelivered = status !== null && status >= 200 && status < 300;
  const ofUrl = isDelivered ? "delivered" : outcome === "permanent" ? "permanent" : "retryable";
  return { outcome: ofUrl, status, error, durationMs } as const;
}

/** When an attempt ended, ms since the epoch: the log has its start. */
function endOf(entry: ProjectionEntry | null): number | null {
  if (entry === null) return null;
  const { startedAtMs, urls } = attemptFromEntry(entry);
  return Math.round(startedAtMs + Math.max(0, ...urls.map(({ durationMs }) => durationMs)));
}
