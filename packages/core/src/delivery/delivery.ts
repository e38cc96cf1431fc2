/** A delivery: one event for one destination. */
import type { EventType, Other } from "../event/event.ts";

/**
 * Where a delivery came from: the events topic's topic generation, the partition, and the offset. Together with the
 * destination id it names the delivery for ever, however often any process writes it (rules D1 to D3).
 */
export interface Origin {
  /** The topic generation (`originTopicGenerationOf` of origin.ts). */
  readonly topicGeneration: number;
  readonly partition: number;
  readonly offset: number;
}

/**
 * One delivery as it stands in `posthaste.deliveries` and the retry topics; `schemas/delivery.avsc` defines its fields.
 */
export interface Delivery {
  readonly messageId: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly type: EventType | Other;
  readonly receivedAtMs: number;
  /** The offset in `posthaste.destination-config` up to which the router had read when it routed the delivery. */
  readonly configOffset: number;
  readonly originIncarnation: number;
  readonly originPartition: number;
  readonly originOffset: number;
  /** The exact bytes of the request body, UTF-8 JSON. */
  readonly body: Uint8Array;
  /** track: the event's name; page, screen: the name; shortened (`eventNameOf`). Null where there is none. */
  readonly event: string | null;
  /**
   * The fields of the event that the documented body has no place for, as a JSON object (`omittedFields`); null for
   * none.
   */
  readonly restJson: string | null;
}

/** A delivery's replay, as its headers tell it. */
export interface Replay {
  readonly id: string;
  /** How often the delivery was sent again, this time included. */
  readonly count: number;
  /** The dead letter that was sent again: topic/partition/offset; null where the replay does not say. */
  readonly from: string | null;
}

/**
 * The earlier attempts and deferrals of a delivery. It rides in the headers of retry records (W2), so that no crash
 * resets it.
 */
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
  /**
   * The moment before which no URL is to be called, since receivers asked for it (`Retry-After`), in ms since the
   * epoch; null when there is none.
   */
  readonly notBeforeMs: number | null;
  /**
   * The URLs that are still owed, under `settle: each` and in a replay for some URLs; null for all of the
   * destination's.
   */
  readonly urls: readonly string[] | null;
  /**
   * Under `settle: any`: for single URLs, the moment before which that URL is not to be called (`Retry-After`), in ms
   * since the epoch, while others may be; null when there is none.
   */
  readonly urlsNotBeforeMs: Readonly<Record<string, number>> | null;
  /** The attempts that failed, as `addAttempt` of attempt-history.ts writes them; null before the first. */
  readonly history: string | null;
  /** The replay that sent the delivery last; null when it was never replayed. */
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
