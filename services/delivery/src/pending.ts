/** A delivery in this process, from its intake to its end: one object a record, since this is the hot path. */

import type { Codec } from "@posthaste/contracts/codec";
import { decodeProgress, headerText, REPUBLISHED_FROM_HEADER } from "@posthaste/contracts/headers";
import type { Destination } from "@posthaste/core/config/destination";
import { type DeadUrl, NOT_ATTEMPTED, URL_REMOVED } from "@posthaste/core/delivery/dead-letter";
import { type Delivery, type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { NO_INCARNATION } from "@posthaste/core/delivery/origin";
import type { DeferralCause } from "@posthaste/core/isolation/permit";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** What a record of the deliveries or a retry topic says. */
export interface Intake {
  /** Null when no schema reads the record. */
  readonly delivery: Delivery | null;
  readonly progress: DeliveryProgress;
  /** It comes from a retry topic. */
  readonly isRetry: boolean;
  /** The record it was republished from (W6); undefined for one of the deliveries topic. */
  readonly republishedFrom: string | undefined;
  /** It is to be deferred for this, and takes no turn in its lane; null when it is to be served. */
  readonly turnedAway: DeferralCause | null;
}

/** Why a delivery of a destination that arrives now is to be deferred; null when it is to be served. */
export type TurnsAway = (destinationId: string) => DeferralCause | null;

/** Reads a record; never throws. */
export function takeDelivery(
  codec: Codec<Delivery>,
  record: IncomingRecord,
  isRetry: boolean,
  turnsAway: TurnsAway,
): Intake {
  const delivery = decodeDelivery(codec, record);
  // A replay may be for some URLs only; what the router writes has no headers, so they are not looked for.
  const hasProgress = isRetry || delivery?.originIncarnation === NO_INCARNATION;
  return {
    delivery,
    progress: hasProgress ? decodeProgress(record.headers) : NO_PROGRESS,
    isRetry,
    republishedFrom: isRetry ? headerText(record.headers, REPUBLISHED_FROM_HEADER) : undefined,
    turnedAway: delivery === null ? null : turnsAway(delivery.destinationId),
  };
}

function decodeDelivery(codec: Codec<Delivery>, { value }: IncomingRecord): Delivery | null {
  if (value === null) return null;
  try {
    return codec.decode(value);
  } catch {
    return null;
  }
}

/** A delivery on its way to its destination. */
export interface Pending {
  readonly task: Task<Intake>;
  readonly delivery: Delivery;
  readonly progress: DeliveryProgress;
  readonly isRetry: boolean;
  /** The URLs that are still to be served; null for all. */
  readonly owed: readonly string[] | null;
  /** The destination as it was when the delivery was judged last. */
  readonly destination: Destination;
  /** Requests that its attempt makes. */
  readonly requests: number;
}

/** Ready to be sent; the URLs that the destination no longer has make no request. */
export function toPending(task: Task<Intake>, delivery: Delivery, destination: Destination): Pending {
  const { progress, isRetry } = task.item;
  const owed = progress.urls;
  return { task, delivery, progress, isRetry, owed, destination, requests: countRequests(destination, owed) };
}

/** Under `settle: each`: the URLs that were still to be served and are the destination's no more. */
export function removedUrls({ settle, urls }: Destination, owed: readonly string[] | null): readonly string[] {
  if (owed === null || settle !== "each") return [];
  return owed.filter((each) => urls.every(({ url }) => url !== each));
}

/**
 * The URLs that a delivery given up without an attempt still owes, as a dead letter names them, so that a replay goes to no
 * URL that was served; none where it owes all. Of a destination that is known, those it has no more are told apart.
 */
export function owedUrls({ urls }: DeliveryProgress, destination: Destination | undefined): readonly DeadUrl[] {
  if (urls === null) return [];
  const removed = destination === undefined ? [] : removedUrls(destination, urls);
  return urls.map((url) => ({
    url,
    status: null,
    error: removed.includes(url) ? URL_REMOVED : NOT_ATTEMPTED,
    durationMs: 0,
  }));
}

function countRequests({ urls }: Destination, only: readonly string[] | null): number {
  return only === null ? urls.length : urls.filter(({ url }) => only.includes(url)).length;
}
