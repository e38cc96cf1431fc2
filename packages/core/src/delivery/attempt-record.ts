/** The attempt log: the attempts, the outcome of each, and the first deferrals. */
import type { EventType, Other } from "../event/event.ts";
import type { DeferredCause } from "./deferred-cause.ts";
import type { AttemptOutcome } from "./outcome.ts";

/** One URL of an attempt. */
export interface UrlAttempt {
  readonly url: string;
  /** Null when none arrived. */
  readonly status: number | null;
  /** A code, null when a status arrived. */
  readonly error: string | null;
  /** From the start of the request to the end of the response headers, or to the failure. */
  readonly durationMs: number;
  /** The start of the response body, known secrets masked; null when there was none. */
  readonly answer: string | null;
}

/**
 * The fields of an attempt's or deferral's record that describe its delivery: identity, origin, and the place of its
 * record. The fields from `receivedAtMs` on are null in entries of an earlier release.
 */
export interface LoggedDelivery {
  readonly messageId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: EventType | Other;
  readonly receivedAtMs: number | null;
  /** The user id, else the anonymous id, else the message id; shortened (`shortName`). */
  readonly userKey: string | null;
  /** track: the event's name; page, screen: the name; shortened. Null where there is none. */
  readonly event: string | null;
  /** The event's partition in `posthaste.events`. Null, like the offset, where the origin is not known. */
  readonly originPartition: number | null;
  readonly originOffset: number | null;
  /** The offset in `posthaste.destination-config` up to which the router had read. */
  readonly configOffset: number | null;
  /** The delay of the retry topic that the delivery's record stands in; 0 for `posthaste.deliveries`. */
  readonly recordDelayMs: number | null;
  readonly recordPartition: number | null;
  readonly recordOffset: number | null;
  /** The record's timestamp; in `posthaste.deliveries` that is the moment of routing. */
  readonly recordTimestampMs: number | null;
  /** How often the delivery was deferred before. */
  readonly deferrals: number;
  /** The id of the replay or resend that sent the delivery last; null when none did. */
  readonly replayId: string | null;
}

/** A record that was published because of an attempt. */
export interface LoggedFollowUp {
  readonly kind: "retry" | "dead_letter" | Other;
  /** The URLs that it is for; null for all that the attempt owed. */
  readonly urls: readonly string[] | null;
  /**
   * For a retry: the delay of its retry topic, when it is due there, and the end of its retry window; otherwise null.
   */
  readonly delayMs: number | null;
  readonly dueAtMs: number | null;
  readonly deadlineMs: number | null;
  /** For a dead letter: its reason; otherwise null. */
  readonly reason: string | null;
}

/** One attempt at one delivery. */
export interface AttemptRecord extends LoggedDelivery {
  /** 1 for the first. */
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly outcome: AttemptOutcome | Other;
  readonly urls: readonly UrlAttempt[];
  /** Empty when the delivery was delivered. */
  readonly followUps: readonly LoggedFollowUp[];
  /** The bytes of the body that each URL was sent; null in an entry of an earlier release. */
  readonly bodyBytes: number | null;
}

/** The first deferral of a delivery, or of some of its URLs. */
export interface DeferralRecord extends LoggedDelivery {
  /** How many attempts were made before. */
  readonly attempts: number;
  readonly deferredAtMs: number;
  readonly cause: DeferredCause | Other;
  /** The URLs that are deferred; null for all that the delivery owes. */
  readonly urls: readonly string[] | null;
  readonly delayMs: number;
  readonly dueAtMs: number;
  /** The end of the retry window; null where none has begun. */
  readonly deadlineMs: number | null;
}

/**
 * One record of `posthaste.attempts`: the attempts and first deferrals of one flush; `schemas/attempt-batch.avsc`
 * defines its fields.
 */
export interface AttemptBatch {
  readonly attempts: readonly AttemptRecord[];
  readonly deferrals: readonly DeferralRecord[];
}
