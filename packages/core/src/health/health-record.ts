/**
 * The reports of each delivery process on its destinations and on itself in `posthaste.destination-health`. The newest
 * record of a key replaces the ones before, so every count is a sum from its start.
 */
import type { DeferredCause } from "../delivery/deferred-cause.ts";
import type { AttemptOutcome } from "../delivery/outcome.ts";
import type { Other } from "../event/event.ts";
import type { BreakerState } from "../isolation/circuit-breaker.ts";

/** The last answer of a URL, or why there was none. */
export interface LastAnswer {
  /** When it came, ms since the epoch. */
  readonly atMs: number;
  readonly outcome: AttemptOutcome | Other;
  readonly status: number | null;
  /** A code, null when a status arrived. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** A process's knowledge of one URL of a destination. Moments are ms since the epoch. */
export interface HealthOfUrl {
  readonly url: string;
  readonly breaker: BreakerState | Other;
  /** Since when the breaker is not closed; null while it is. */
  readonly openSinceMs: number | null;
  /** From when the next probe may go; null while the breaker is closed. */
  readonly nextProbeMs: number | null;
  /** Until when the receiver asked not to be called; null when it did not. */
  readonly notBeforeMs: number | null;
  /** How many requests have not ended. */
  readonly inFlight: number;
  /** The URL's last answer; null before the first. */
  readonly answer: LastAnswer | null;
}

/**
 * Counts since `countedSinceMs`. A process forgets a destination that it does not use for an hour, and then counts from
 * 0.
 */
export interface HealthCounts {
  readonly delivered: number;
  readonly retryable: number;
  readonly permanent: number;
  /** How many deliveries were deferred, by `DeferredCause`. */
  readonly deferred: Readonly<Partial<Record<DeferredCause, number>>>;
  /** How many requests had their outcome within each of `LATENCY_BOUNDS_MS`. */
  readonly latencies: readonly number[];
}

/** The requests to one URL that failed in the same way. */
export interface FailedRequests {
  readonly url: string;
  /** A status or a code, as `errorOf` has it. */
  readonly answer: string;
  readonly count: number;
}

/** A process's knowledge of one destination. Moments are ms since the epoch. */
export interface DestinationHealth extends HealthCounts {
  readonly countedSinceMs: number;
  /** When an attempt last delivered, and when one last failed; null before the first. */
  readonly deliveredAtMs: number | null;
  readonly failedAtMs: number | null;
  /**
   * When the first attempt failed after the newest that delivered; null when the newest attempt delivered, and before
   * the first attempt.
   */
  readonly failingSinceMs: number | null;
  /** When an attempt delivered that came after a failed one, the last time; null before that. */
  readonly recoveredAtMs: number | null;
  /** How many deliveries wait in the process for a permit. */
  readonly waiting: number;
  readonly urls: readonly HealthOfUrl[];
  /**
   * Since `countedSinceMs`, also for URLs that the destination has no more; empty from a process of an earlier release.
   */
  readonly failures: readonly FailedRequests[];
}

/** The settings that a process runs with. */
export interface ProcessHealth {
  readonly startedAtMs: number;
  readonly retryDelaysMs: readonly number[];
  readonly retryWindowMs: number;
  /** How many deliveries the window of one partition holds. */
  readonly windowRecords: number;
  /** Whether the attempt log has failed attempts, and which share, from 0 to 1, of those that delivered. */
  readonly logsFailures: boolean;
  readonly loggedShare: number;
}

/** A record of one destination, or of the process itself. */
export interface HealthRecord {
  /** The name that the process drew at its start. */
  readonly instance: string;
  readonly writtenAtMs: number;
  readonly destinationId: string | null;
  readonly destination: DestinationHealth | null;
  readonly process: ProcessHealth | null;
}
