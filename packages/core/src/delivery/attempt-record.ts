/** The attempt log: what was sent to whom and what came of it. */
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
 * What an attempt and a deferral say of their delivery alike: what it is, where it came from, where its record stands.
 * The fields from `receivedAtMs` on are null in entries of an earlier release.
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
  /** The event's partition; null too where it is not known, as is its offset. */
  readonly originPartition: number | null;
  readonly originOffset: number | null;
  /** The offset in `posthaste.destination-config` up to which the router had read. */
  readonly configOffset: number | null;
  /** The delay of the retry topic that the delivery's record stands in; 0 for `posthaste.deliveries`. */
  readonly recordDelayMs: number | null;
  readonly recordPartition: number | null;
  readonly recordOffset: number | null;
  /** In `posthaste.deliveries` the moment of routing. */
  readonly recordTimestampMs: number | null;
  /** Deferrals before. */
  readonly deferrals: number;
  /** The replay or the resend that sent it; null for neither. */
  readonly replayId: string | null;
}

/** What was published because of an attempt. */
export interface LoggedFollowUp {
  readonly kind: "retry" | "dead_letter" | Other;
  /** Null for all that the attempt owed. */
  readonly urls: readonly string[] | null;
  /** Of a retry: the delay of its retry topic, when it leaves that, and the end of its retry window; else null. */
  readonly delayMs: number | null;
  readonly dueAtMs: number | null;
  readonly deadlineMs: number | null;
  /** Of a dead letter: its reason; else null. */
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
}

/** The first deferral of a delivery, or of some of its URLs. */
export interface DeferralRecord extends LoggedDelivery {
  /** Attempts before. */
  readonly attempts: number;
  readonly deferredAtMs: number;
  readonly cause: DeferredCause | Other;
  /** Null for all that it owes. */
  readonly urls: readonly string[] | null;
  readonly delayMs: number;
  readonly dueAtMs: number;
  /** Null where no retry window has begun. */
  readonly deadlineMs: number | null;
}

/**
 * One record of `posthaste.attempts`: the attempts and first deferrals of one flush; its fields are those of
 * `schemas/attempt-batch.avsc`.
 */
export interface AttemptBatch {
  readonly attempts: readonly AttemptRecord[];
  readonly deferrals: readonly DeferralRecord[];
}
