/**
 * The counts that this process keeps of each destination that it uses.
 *
 * Owns: the counts of each destination, and which of them changed since `takeTouched` was last called.
 * - Counting a delivery raises numbers and does nothing else: it makes no record and sends nothing.
 * HC2  Counts only rise, from `countedSinceMs` on. A destination that was not used for `FORGET_MS` is forgotten, so
 *      that memory follows the destinations in use (I4); its counts begin at 0 when it is used again.
 * HC3  A destination counts as failing from the first attempt that failed after the newest that delivered.
 */
import type { DeferredCause } from "@posthaste/core/delivery/deferred-cause";
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import { OTHER } from "@posthaste/core/event/event";
import type { FailedRequests, HealthCounts, LastAnswer } from "@posthaste/core/health/health-record";
import { LATENCY_BUCKETS, latencyBucket } from "@posthaste/core/health/latency-counts";
import { errorOf } from "@posthaste/core/replay/dead-letter-filter";
import type { AttemptReport } from "@posthaste/webhook/report";

const FORGET_MS = 60 * 60_000;
/** The most kinds of failure that are told apart for a destination, since a receiver may answer with any status. */
const MOST_FAILURES = 50;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The counts of one destination, in one object for as long as the destination is in use. */
export class DestinationCounts implements HealthCounts {
  readonly countedSinceMs: number;
  delivered = 0;
  retryable = 0;
  permanent = 0;
  readonly deferred: Partial<Record<DeferredCause, number>> = {};
  readonly latencies: number[] = new Array(LATENCY_BUCKETS).fill(0);
  deliveredAtMs: number | null = null;
  failedAtMs: number | null = null;
  failingSinceMs: number | null = null;
  recoveredAtMs: number | null = null;
  /** The last answer of each URL. */
  readonly answers = new Map<string, Mutable<LastAnswer>>();
  /** The failures, by answer and URL. */
  readonly failures = new Map<string, Mutable<FailedRequests>>();
  /** When the destination was last used, in ms since the epoch. */
  usedMs: number;
  isTouched = false;

  constructor(nowMs: number) {
    this.countedSinceMs = nowMs;
    this.usedMs = nowMs;
  }
}

/** The reports of a delivery's last stage. */
export interface HealthPort {
  /** An attempt is settled, at `nowMs` since the epoch. */
  settled(destinationId: string, outcome: AttemptOutcome, nowMs: number): void;
  /** Every request of an attempt has ended. */
  finished(destinationId: string, report: AttemptReport): void;
  /** A delivery is deferred. */
  deferred(destinationId: string, cause: DeferredCause, nowMs: number): void;
}

export class DestinationsCounts implements HealthPort {
  readonly #byId = new Map<string, DestinationCounts>();
  #touched: string[] = [];

  settled(destinationId: string, outcome: AttemptOutcome, nowMs: number): void {
    const counts = this.#touch(destinationId, nowMs);
    counts[outcome] += 1;
    if (outcome === "delivered") {
      if (counts.failingSinceMs !== null) counts.recoveredAtMs = nowMs;
      counts.failingSinceMs = null;
      counts.deliveredAtMs = nowMs;
    } else {
      counts.failingSinceMs ??= nowMs;
      counts.failedAtMs = nowMs;
    }
  }

  finished(destinationId: string, { startedAtMs, urls }: AttemptReport): void {
    for (const { url, outcome, status, error, durationMs } of urls) {
      const atMs = startedAtMs + durationMs;
      const counts = this.#touch(destinationId, atMs);
      const bucket = latencyBucket(durationMs);
      counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1;
      const answer = counts.answers.get(url);
      if (answer === undefined) counts.answers.set(url, { atMs, outcome, status, error, durationMs });
      else if (atMs >= answer.atMs) Object.assign(answer, { atMs, outcome, status, error, durationMs });
      // A delivered request has an error where the rest of its answer went over the budget.
      if (outcome !== "delivered" || error !== null) countFailure(counts.failures, url, errorOf({ status, error }));
    }
  }

  deferred(destinationId: string, cause: DeferredCause, nowMs: number): void {
    const { deferred } = this.#touch(destinationId, nowMs);
    deferred[cause] = (deferred[cause] ?? 0) + 1;
  }

  get(destinationId: string): DestinationCounts | undefined {
    return this.#byId.get(destinationId);
  }

  /** The destinations whose counts changed since the last call. */
  takeTouched(): readonly string[] {
    const touched = this.#touched;
    this.#touched = [];
    for (const id of touched) {
      const counts = this.#byId.get(id);
      if (counts !== undefined) counts.isTouched = false;
    }
    return touched;
  }

  /** HC2. Returns the destinations that it forgot. */
  forgetUnused(nowMs: number): readonly string[] {
    const forgotten = [...this.#byId].filter(([, { usedMs }]) => nowMs - usedMs >= FORGET_MS).map(([id]) => id);
    for (const id of forgotten) this.#byId.delete(id);
    return forgotten;
  }

  #touch(destinationId: string, nowMs: number): DestinationCounts {
    let counts = this.#byId.get(destinationId);
    if (counts === undefined) {
      counts = new DestinationCounts(nowMs);
      this.#byId.set(destinationId, counts);
    }
    counts.usedMs = nowMs;
    if (!counts.isTouched) {
      counts.isTouched = true;
      this.#touched.push(destinationId);
    }
    return counts;
  }
}

/** From `MOST_FAILURES` kinds on, each URL has one more kind for all others. */
function countFailure(failures: DestinationCounts["failures"], url: string, reported: string): void {
  const known = failures.get(`${reported} ${url}`);
  if (known !== undefined) {
    known.count += 1;
    return;
  }
  const answer = failures.size < MOST_FAILURES ? reported : OTHER;
  const name = `${answer} ${url}`;
  const held = failures.get(name);
  if (held === undefined) failures.set(name, { url, answer, count: 1 });
  else held.count += 1;
}
