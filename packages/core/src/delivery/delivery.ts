/** A delivery: one event for one destination. */
import type { EventType, Other } from "../event/event.ts";

/**
 * Where a delivery came from: which incarnation of the events topic, which partition, which offset. Together with the
 * destination id it names the delivery for ever, whoever wrote it and however often (rules D1 to D3).
 */
export interface Origin {
  /** Made with the events topic, and raised when that is made anew or an operator sets the router back. */
  readonly incarnation: number;
  readonly partition: number;
  readonly offset: number;
}

/**
 * One delivery as it stands in `posthaste.deliveries` and the retry topics; its fields are those of
 * `schemas/delivery.avsc`.
 */
export interface Delivery {
  readonly messageId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: EventType | Other;
  readonly receivedAtMs: number;
  /** The offset in `posthaste.destination-config` up to which the router had read when it routed this. */
  readonly configOffset: number;
  readonly originIncarnation: number;
  readonly originPartition: number;
  readonly originOffset: number;
  /** The exact bytes of the request body, UTF-8 JSON. */
  readonly body: Uint8Array;
  /** track: the event's name; page, screen: the name; shortened (`eventNameOf`). Null where there is none. */
  readonly event: string | null;
  /** What the event has beside the documented body: a JSON object, serialised (`fieldsLeftOut`); null for nothing. */
  readonly restJson: string | null;
}

/** What a replayed delivery says of its replay. */
export interface Replay {
  readonly id: string;
  /** How often the delivery was sent again, this time included. */
  readonly count: number;
  /** The dead letter that was sent again: topic/partition/offset; null where the replay does not say. */
  readonly from: string | null;
}

/** What a delivery has been through; rides in record headers through the retry topics (W2), so no crash resets it. */
export interface DeliveryProgress {
  /** Attempts made so far; 0 for a delivery that was never sent. */
  readonly attempts: number;
  /** Deferrals so far. */
  readonly deferrals: number;
  /**
   * Start of the retry window: the first failed attempt or the first deferral, whichever was earlier; null before that.
   */
  readonly windowStartMs: number | null;
  /** End of the retry window, ms since the epoch; null before it starts. */
  readonly deadlineMs: number | null;
  /** A receiver asked not to be called before this moment (Retry-After), ms since the epoch; null when none did. */
  readonly notBeforeMs: number | null;
  /**
   * The URLs still to be served, under `settle: each` and of a replay for some; null means all that the destination
   * has.
   */
  readonly urls: readonly string[] | null;
  /**
   * Under `settle: any`: the moments, ms since the epoch, before which single URLs are not to be called (Retry-After),
   * where others may be; null when there are none.
   */
  readonly urlsNotBeforeMs: Readonly<Record<string, number>> | null;
  /** The attempts that failed, as `addAttempt` of attempt-history.ts writes them; null before the first. */
  readonly history: string | null;
  /** The replay that sent it last; null when it was never replayed. */
  readonly replay: Replay | null;
}

export const NO_PROGRESS: DeliveryProgress = {
  attempts: 0,
  deferrals: 0,
  windowStartMs: null,
  deadlineMs: null,
  notBeforeMs: null,
  urls: null,
  urlsNotBeforeMs: null,
  history: null,
  replay: null,
};
