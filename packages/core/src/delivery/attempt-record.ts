/** The attempt log: what was sent to whom and what came of it. */
import type { EventType, Other } from "../event/event.ts";
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

/** One attempt at one delivery. */
export interface AttemptRecord {
  readonly messageId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: EventType | Other;
  /** 1 for the first. */
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly outcome: AttemptOutcome | Other;
  readonly urls: readonly UrlAttempt[];
}

/**
 * One record of `posthaste.attempts`: the attempts of one flush; its fields are those of `schemas/attempt-batch.avsc`.
 */
export interface AttemptBatch {
  readonly attempts: readonly AttemptRecord[];
}
