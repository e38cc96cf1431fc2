/** Dead letters: deliveries that will not be tried again, and why. */
import type { Other } from "../event/event.ts";
import type { Delivery } from "./delivery.ts";

/** The closed list of reasons. */
export const DEAD_LETTER_REASONS = [
  /** The retry window ended. */
  "window_expired",
  /** Every URL answered with a permanent refusal. */
  "rejected_by_receiver",
  /** The address is in a network that webhooks may not reach. */
  "address_refused",
  "destination_disabled",
  "destination_removed",
  /** A deletion asked for it. */
  "suppressed",
] as const;
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** Where the cause of a dead letter is mended. */
export const REASON_CLASSES = [
  /** The customer's endpoint: it fails, is silent, or refuses what it was sent. */
  "receiver",
  /** What was set here, or asked for: a URL, a header, a secret, a destination that is off, a deletion. */
  "configuration",
  /** Posthaste itself, or the network that it stands in. */
  "pipeline",
] as const;
export type ReasonClass = (typeof REASON_CLASSES)[number];

/** The error of a URL that was not sent to because its destination has it no more. */
export const URL_REMOVED = "url_removed";
/** The error of a URL that was still to be served when its delivery was given up without an attempt. */
export const NOT_ATTEMPTED = "not_attempted";

/** What a URL answered. */
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
  /** The replay that it was of; null before any. */
  readonly replayId: string | null;
  readonly startedAtMs: number;
  /** The URLs that were called. */
  readonly urls: readonly DeadUrl[];
}

/** One record of `posthaste.dead-letters`; its fields are those of `schemas/dead-letter.avsc`. */
export interface DeadLetter extends Delivery {
  readonly reason: DeadLetterReason | Other;
  /** `other` in a letter from before classes. */
  readonly reasonClass: ReasonClass | Other;
  readonly deadAtMs: number;
  readonly attempts: number;
  readonly deferrals: number;
  /** The first failed attempt or the first deferral; null when there was neither. */
  readonly windowStartMs: number | null;
  /**
   * Of the attempt that ended it; empty when it was given up without one, even after earlier attempts. Under `settle:
   * each` only the URLs that are dead; those that were still to be served when it was given up without an attempt are
   * named too.
   */
  readonly lastAttempt: readonly DeadUrl[];
  /**
   * Whose event it is (`userKeyOf`). Null in a letter from before this field, and in one that a deletion asked for.
   */
  readonly userKey: string | null;
  /** Of its first attempt, that before any replay, in ms since the epoch; null when nobody noted one. */
  readonly firstAttemptAtMs: number | null;
  /** The attempts that failed, oldest first, the last one included; of many the first and the last. */
  readonly history: readonly PastAttempt[];
  /** The topic that `originPartition` and `originOffset` are of; null where the origin is not known any more. */
  readonly originTopic: string | null;
  /** The replay that sent it last; null when there was none. */
  readonly replayId: string | null;
  /** How often it was sent again from the dead letters. */
  readonly replays: number;
  /** The dead letter that it was sent again from last: topic/partition/offset. */
  readonly replayedFrom: string | null;
}

/**
 * What its URLs answered last: in the attempt that ended it, or where it was given up without one in the newest before.
 * What filters, lists and headers call its errors and statuses is of these.
 */
export function lastAnswers({ lastAttempt, history }: Pick<DeadLetter, "lastAttempt" | "history">) {
  return lastAttempt.length > 0 ? lastAttempt : (history.at(-1)?.urls ?? []);
}
