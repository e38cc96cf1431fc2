/** Dead letters: deliveries that will not be tried again, and why. */
import type { Other } from "../event/event.ts";
import type { Delivery } from "./delivery.ts";

/** The closed list of reasons. */
export const DEAD_LETTER_REASONS = [
  /** The retry window ended before the delivery was delivered. */
  "window_expired",
  /** Every URL answered with a permanent refusal. */
  "rejected_by_receiver",
  /** The address is in a network that webhooks may not reach. */
  "address_refused",
  "destination_disabled",
  "destination_removed",
  /** A deletion request suppressed the user. */
  "suppressed",
] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** The classes of reasons: where the cause of a dead letter is mended. */
export const REASON_CLASSES = [
  /** The receiver: it fails, does not answer, or refuses the request. */
  "receiver",
  /** An operator's setting or request: a URL, a header, a secret, a destination that is off, a deletion. */
  "configuration",
  /** Posthaste itself, or the network that it runs in. */
  "pipeline",
] as const;
export type ReasonClass = (typeof REASON_CLASSES)[number];

/** The error of a URL that was not called because its destination no longer has it. */
export const URL_REMOVED = "url_removed";
/** The error of a URL that was still owed when its delivery was given up without an attempt. */
export const NOT_ATTEMPTED = "not_attempted";

/** A URL's answer. */
export interface DeadUrl {
  readonly url: string;
  /** Null when no status arrived. */
  readonly status: number | null;
  /** A code, null when a status arrived; `URL_REMOVED` or `NOT_ATTEMPTED` where nothing was sent. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** One attempt that failed. */
export interface PastAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  /** The id of the replay that made it; null before the first replay. */
  readonly replayId: string | null;
  readonly startedAtMs: number;
  /** The URLs that were called. */
  readonly urls: readonly DeadUrl[];
}

/** One record of `posthaste.dead-letters`; `schemas/dead-letter.avsc` defines its fields. */
export interface DeadLetter extends Delivery {
  readonly reason: DeadLetterReason | Other;
  /** `other` in a dead letter from before classes. */
  readonly reasonClass: ReasonClass | Other;
  readonly deadAtMs: number;
  readonly attempts: number;
  readonly deferrals: number;
  /** The first failed attempt or the first deferral; null when there was neither. */
  readonly windowStartMs: number | null;
  /**
   * The answers of the URLs in the attempt that ended the delivery; empty when it was given up without an attempt, even
   * after earlier ones. Under `settle: each` only the URLs that are dead, and those that were still owed when the
   * delivery was given up without an attempt.
   */
  readonly lastAttempt: readonly DeadUrl[];
  /** The user key (`userKeyOf`). Null in a dead letter from before this field, and in one that a deletion asked for. */
  readonly userKey: string | null;
  /**
   * When the delivery's first attempt began, before any replay, in ms since the epoch; null where that is not known.
   */
  readonly firstAttemptAtMs: number | null;
  /**
   * The attempts that failed, oldest first, the last one included; of many only the first and the last (AH1 of
   * attempt-history.ts).
   */
  readonly history: readonly PastAttempt[];
  /** The topic that `originPartition` and `originOffset` are of; null where the origin is not known. */
  readonly originTopic: string | null;
  /** The id of the replay that sent the delivery last; null when none did. */
  readonly replayId: string | null;
  /** How often the delivery was sent again from the dead letters. */
  readonly replays: number;
  /**
   * The place of the dead letter that it was last sent again from, as topic/partition/offset; null when it never was.
   */
  readonly replayedFrom: string | null;
}

/**
 * The last answers of the delivery's URLs: in the attempt that ended it or, where it was given up without one, in the
 * newest attempt before. Filters, lists and headers take a dead letter's errors and statuses from these answers.
 */
export function lastAnswers({ lastAttempt, history }: Pick<DeadLetter, "lastAttempt" | "history">) {
  return lastAttempt.length > 0 ? lastAttempt : (history.at(-1)?.urls ?? []);
}
