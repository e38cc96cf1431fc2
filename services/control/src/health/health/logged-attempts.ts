/**
 * The attempts from before control's start, as the attempt log has them, for the health book (HB6 of health-book.ts).
 *
 * Owns: whether the log was asked. Each destination is asked for once, when the log is read to its end: later attempts
 * are reported by delivery processes. A log without all attempts is not asked, since a success may be missing.
 */
import type { UrlAttempt } from "@posthaste/core/delivery/attempt-record";
import { type PastAttempts, pastUrl } from "@posthaste/core/health/past-attempts";
import type { Log } from "@posthaste/core/log";
import { attemptFromEntry } from "@posthaste/read-model/attempt-entry";
import type { LastAttempts } from "@posthaste/read-model/last-attempts";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { HealthBook } from "./health-book.ts";

/** The destinations in one question, so that others are answered between. */
const ASKED_AT_ONCE = 200;

export interface LoggedAttemptsOptions {
  readonly readModel: Pick<ReadModel, "isComplete" | "lastAttempts">;
  readonly book: Pick<HealthBook, "processes" | "remember">;
  readonly destinations: () => Iterable<{ readonly id: string }>;
  readonly log: Log;
}

export class LoggedAttempts {
  readonly #options: LoggedAttemptsOptions;
  #state: "unread" | "reading" | "read" = "unread";
  readonly #read = Promise.withResolvers<void>();

  constructor(options: LoggedAttemptsOptions) {
    this.#options = options;
  }

  /** The book knows all that the log has. */
  get isRead(): boolean {
    return this.#state === "read";
  }

  /** Resolves once `isRead` is true. */
  get whenRead(): Promise<void> {
    return this.#read.promise;
  }

  /** Asks the log where it was not asked and can be. Never rejects; call it every few seconds. */
  async read(): Promise<void> {
    const { readModel, book, destinations, log } = this.#options;
    if (this.#state !== "unread") return;
    if (book.processes().some(({ logsFailures, loggedShare }) => !logsFailures || loggedShare < 1)) {
      this.#end();
      return;
    }
    if (!readModel.isComplete("attempts")) return;
    this.#state = "reading";
    try {
      const ids = Array.from(destinations(), ({ id }) => id);
      for (let at = 0; at < ids.length; at += ASKED_AT_ONCE) {
        const found = await readModel.lastAttempts(ids.slice(at, at + ASKED_AT_ONCE));
        for (const each of found) book.remember(each.destinationId, pastFrom(each));
      }
      this.#end();
    } catch (error) {
      log.debug({ event: "last_attempts_not_read", err: error });
      this.#state = "unread";
    }
  }

  #end(): void {
    this.#state = "read";
    this.#read.resolve();
  }
}

function pastFrom({ delivered, failed, recovered, firstFailed }: LastAttempts): PastAttempts {
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
