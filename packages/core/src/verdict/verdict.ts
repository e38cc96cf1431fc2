/**
 * Verdicts, the answer to "why did this event not arrive?": one cause of a closed list for each destination of an
 * event, and the worst of them for the event as a whole.
 */
import type { DeferredCause } from "../delivery/deferred-cause.ts";
import type { Other } from "../event/event.ts";

/** The closed list, the worst first. An event with several causes has the first of them. */
export const VERDICT_CAUSES = [
  /** Ingest refused a single call. */
  "refused",
  /** Ingest refused a call of a batch, and accepted others. */
  "rejected_in_batch",
  /** The delivery is a dead letter and is not tried any more. */
  "dead_letter",
  /** The delivery's record was deleted before its time. */
  "lost",
  /** Every destination of the source is switched off. */
  "destination_off",
  /** No destination is connected to the source. */
  "no_destination",
  /** The event's own integrations switch its destinations off. */
  "integration_off",
  /** A deletion request stopped the user's events. */
  "suppressed",
  /** An attempt failed, and the next one is planned. */
  "waiting_retry",
  /** The delivery waits in a retry topic without a request. */
  "deferred",
  /** The router or delivery has not read the record yet. */
  "in_pipeline",
  /** No fact tells the fate of the event. */
  "unknown",
  /** The source sent the same message id before. */
  "duplicate_of",
  /** One of several URLs took the delivery, and others did not. */
  "delivered_elsewhere",
  /** Every URL that was called took the delivery. */
  "delivered",
] as const;
export type VerdictCause = (typeof VERDICT_CAUSES)[number];

/** The state of one delivery: an event and a destination. Moments are ms since the epoch. */
export type DeliveryVerdict =
  | {
      readonly cause: "delivered" | "delivered_elsewhere";
      readonly atMs: number;
      /** The URL that took the delivery. */
      readonly url: string;
      readonly durationMs: number;
      /** How many attempts were made; of the newest replay where the delivery was sent again. */
      readonly tries: number;
      /** The answers of the other URLs of that attempt. */
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
      readonly givenUp?: DeadUrls;
    }
  | {
      readonly cause: "deferred";
      readonly deferredCause: DeferredCause | Other;
      readonly sinceMs: number;
      /**
       * The due time of the first deferral, which alone is logged; null once it is past, since later ones may have
       * followed.
       */
      readonly dueAtMs: number | null;
      readonly deadlineMs: number | null;
      readonly tries: number;
      readonly givenUp?: DeadUrls;
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
      /** Null where the dead letter itself is not known. */
      readonly reasonClass: string | null;
      readonly tries: number;
      readonly last: readonly UrlAnswer[];
      /**
       * The dead letter's place, as `partition:offset`. Null where the dead letter itself is not known, and for a
       * purged dead letter, of which only the class is known.
       */
      readonly place: string | null;
    };

/** URLs of a delivery that became a dead letter while others of its URLs are still tried. */
export interface DeadUrls {
  readonly urls: readonly string[];
  /** As of a verdict `dead_letter`. */
  readonly place: string | null;
}

/** The knowledge of a delivery that no record of the logs names. */
export type OtherVerdict =
  | ({ readonly cause: "in_pipeline"; readonly tries: number } & Behind)
  | {
      /** The delivery waited in this part of a retry topic, which was deleted. */
      readonly cause: "lost";
      readonly topic: string;
      readonly partition: number;
      /** The first offset that was lost, and the one behind the last. */
      readonly from: number;
      readonly to: number;
      /** When somebody accepted the loss. */
      readonly acceptedAtMs: number;
      readonly tries: number;
    }
  | {
      readonly cause: "destination_off";
      /** Since when the destination had been off; null where that is not known. */
      readonly sinceMs: number | null;
      /** The author of the switch; null where that is not known. */
      readonly by: string | null;
      readonly tries: number;
    };

/** How much of a partition its reader has to finish before it comes to a record. */
export interface Behind {
  /** How many records before it are not finished. */
  readonly recordsBehind: number;
  /** How long the first of those, or the record itself, has been there, in ms. */
  readonly behindMs: number;
}

/** One URL's answer to an attempt. */
export interface UrlAnswer {
  readonly url: string;
  /** The status; null when none arrived. */
  readonly status: number | null;
  /** A code, null when a status arrived. */
  readonly error: string | null;
}

/** The worst of several causes; `unknown` where there is none. */
export function worstCause(causes: readonly VerdictCause[]): VerdictCause {
  return VERDICT_CAUSES.find((cause) => causes.includes(cause)) ?? "unknown";
}
