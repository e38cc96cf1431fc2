/**
 * The answer to "why did this event not arrive?": one cause of a closed list for each destination of an event, and the
 * worst of them for the event as a whole.
 */
import type { DeferredCause } from "../delivery/deferred-cause.ts";
import type { Other } from "../event/event.ts";

/** The closed list, the worst first: where an event has several, the first of them here is the event's. */
export const VERDICT_CAUSES = [
  /** A single call that ingest did not accept. */
  "refused",
  /** A call of a batch that ingest did not accept, while others of it were. */
  "rejected_in_batch",
  /** A dead letter: the delivery is tried no more. */
  "dead_letter",
  /** Every destination of the source is switched off. */
  "destination_off",
  /** No destination is connected to the source. */
  "no_destination",
  /** The event's own integrations keep it from its destinations. */
  "integration_off",
  /** A deletion request stopped the user's events. */
  "suppressed",
  /** An attempt failed, and the next one is planned. */
  "waiting_retry",
  /** It waits in a retry topic and no request was made. */
  "deferred",
  /** The router or delivery has not read it yet. */
  "in_pipeline",
  /** Nothing that is known says what became of it. */
  "unknown",
  /** The source sent the same message id before. */
  "duplicate_of",
  /** One of several URLs took it, and others did not. */
  "delivered_elsewhere",
  /** Every URL that was called took it. */
  "delivered",
] as const;
export type VerdictCause = (typeof VERDICT_CAUSES)[number];

/** What became of one delivery: an event and a destination. Moments are ms since the epoch. */
export type DeliveryVerdict =
  | {
      readonly cause: "delivered" | "delivered_elsewhere";
      readonly atMs: number;
      /** The URL that took it first. */
      readonly url: string;
      readonly durationMs: number;
      /** Attempts that were made, of the newest replay where it was sent again. */
      readonly tries: number;
      /** What the other URLs of that attempt answered. */
      readonly others: readonly UrlAnswer[];
    }
  | {
      readonly cause: "waiting_retry";
      readonly dueAtMs: number;
      readonly delayMs: number;
      readonly deadlineMs: number | null;
      readonly tries: number;
      readonly urls: readonly string[] | null;
      readonly last: readonly UrlAnswer[];
    }
  | {
      readonly cause: "deferred";
      readonly deferredCause: DeferredCause | Other;
      readonly sinceMs: number;
      /** Of the first deferral, which alone is logged; null when it is past, since later ones may have followed. */
      readonly dueAtMs: number | null;
      readonly deadlineMs: number | null;
      readonly tries: number;
    }
  | {
      readonly cause: "suppressed";
      readonly atMs: number;
      readonly tries: number;
    }
  | {
      readonly cause: "dead_letter";
      readonly atMs: number;
      readonly reason: string;
      /** Null where the letter itself is not held. */
      readonly reasonClass: string | null;
      readonly tries: number;
      readonly last: readonly UrlAnswer[];
      /** `partition:offset`; null where the letter itself is not held, or (its class is known then) was purged. */
      readonly place: string | null;
    };

/** What is known of a delivery that nothing is logged of. */
export type OtherVerdict =
  | ({ readonly cause: "in_pipeline"; readonly tries: number } & Behind)
  | {
      readonly cause: "destination_off";
      /** Since when the destination had been off; null where that is not known. */
      readonly sinceMs: number | null;
      /** Who switched it off; null where that is not known. */
      readonly by: string | null;
      readonly tries: number;
    };

/** How much of a partition its reader has before it comes to a record. */
export interface Behind {
  /** Records that stand before it and are not finished. */
  readonly recordsBehind: number;
  /** How long the first of them, or the record itself, has been there, in ms. */
  readonly behindMs: number;
}

/** What one URL answered. */
export interface UrlAnswer {
  readonly url: string;
  /** Null when none arrived. */
  readonly status: number | null;
  /** A code, null when a status arrived. */
  readonly error: string | null;
}

/** Answers the worst of several causes; `unknown` where there is none. */
export function worstCause(causes: readonly VerdictCause[]): VerdictCause {
  return VERDICT_CAUSES.find((cause) => causes.includes(cause)) ?? "unknown";
}
