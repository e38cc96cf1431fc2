/**
 * What each delivery process says of the destinations that it uses, and of itself, in `posthaste.destination-health`:
 * the newest record of a key stands, so every count goes on from the first.
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

/** What a process knows of one URL of a destination. Moments are ms since the epoch. */
export interface HealthOfUrl {
  readonly url: string;
  readonly breaker: BreakerState | Other;
  /** Since when the breaker is not closed; null while it is. */
  readonly openSinceMs: number | null;
  /** From when the next probe may go; null while the breaker is closed. */
  readonly nextProbeMs: number | null;
  /** Until when the receiver asked not to be called; null for not at all. */
  readonly notBeforeMs: number | null;
  /** Requests that have not ended. */
  readonly inFlight: number;
  /** Null before the first. */
  readonly answer: LastAnswer | null;
}

/** Since `countedSinceMs`: what a process does not use for an hour it forgets, and counts from the start again. */
export interface HealthCounts {
  readonly delivered: number;
  readonly retryable: number;
  readonly permanent: number;
  /** Deliveries that went to a retry topic without a request, by `DeferredCause`. */
  readonly deferred: Readonly<Partial<Record<DeferredCause, number>>>;
  /** Requests by how long their outcome took; see `LATENCY_BOUNDS_MS`. */
  readonly latencies: readonly number[];
}

/** Requests to a URL that did not deliver and came to the same. */
export interface FailedRequests {
  readonly url: string;
  /** A status or a code, as `errorOf` has it. */
  readonly answer: string;
  readonly count: number;
}

/** What a process knows of one destination. Moments are ms since the epoch. */
export interface DestinationHealth extends HealthCounts {
  readonly countedSinceMs: number;
  /** When an attempt delivered, and when one did not; null before the first. */
  readonly deliveredAtMs: number | null;
  readonly failedAtMs: number | null;
  /** When the first attempt failed since one delivered; null when the newest delivered, and before the first. */
  readonly failingSinceMs: number | null;
  /** When the first attempt delivered after one that failed; null before that. */
  readonly recoveredAtMs: number | null;
  /** Deliveries that wait in the process for a permit. */
  readonly waiting: number;
  readonly urls: readonly HealthOfUrl[];
  /** Since `countedSinceMs`, also of URLs that it has no more; empty from a process of an earlier release. */
  readonly failures: readonly FailedRequests[];
}

/** What a process runs with. */
export interface ProcessHealth {
  readonly startedAtMs: number;
  readonly retryDelaysMs: readonly number[];
  readonly retryWindowMs: number;
  /** Deliveries that one partition's window holds. */
  readonly windowRecords: number;
  /** Whether the attempt log has what failed, and which share (0 to 1) of what delivered. */
  readonly logsFailures: boolean;
  readonly loggedShare: number;
}

/** Either of a destination or of the process. */
export interface HealthRecord {
  /** Names the process, from its start to its end. */
  readonly instance: string;
  readonly writtenAtMs: number;
  readonly destinationId: string | null;
  readonly destination: DestinationHealth | null;
  readonly process: ProcessHealth | null;
}
