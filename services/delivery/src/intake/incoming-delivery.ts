/** A delivery as intake reads it from a record of the deliveries topic or of a retry topic. */

import type { Codec } from "@posthaste/contracts/codec";
import { decodeProgress, headerText, REPUBLISHED_FROM_HEADER, republishedAtMs } from "@posthaste/contracts/headers";
import { boundMoments } from "@posthaste/core/delivery/carried-moments";
import { type Delivery, type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { NO_TOPIC_GENERATION } from "@posthaste/core/delivery/origin";
import { PosthasteError } from "@posthaste/core/errors";
import type { DeferralCause } from "@posthaste/core/isolation/permit";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** There is one object for each record, since this is the hot path. */
export interface IncomingDelivery {
  /** Null when no schema reads the record. */
  readonly delivery: Delivery | null;
  /** Why no schema reads the record; null when one does. */
  readonly unreadable: PosthasteError | null;
  readonly progress: DeliveryProgress;
  /** The record comes from a retry topic. */
  readonly isRetry: boolean;
  /** The record that this one was republished from (W6); undefined for a record of the deliveries topic. */
  readonly republishedFrom: string | undefined;
  /**
   * Admission defers the delivery for this cause, so that it does not wait for its turn in its lane; null for any other
   * delivery.
   */
  readonly deferralOnArrival: DeferralCause | null;
  /**
   * The `traceparent` that its attempts belong to, and that whatever follows them carries on; undefined while traces
   * are off. The first attempt sets it where the record has none.
   */
  traceparent: string | undefined;
}

/** Returns why admission defers every delivery of a destination that arrives now; null when admission takes them. */
export type DeferralOnArrival = (destinationId: string) => DeferralCause | null;

/** The return of a record from a retry topic. */
export interface Return {
  /** The delay of the topic, in ms. */
  readonly delayMs: number;
  /** When the record is read, in ms since the epoch. */
  readonly nowMs: number;
}

/** Reads a record; `returned` is null for one of the deliveries topic. Throws for a bug of the codec alone. */
export function readDelivery(
  codec: Codec<Delivery>,
  record: IncomingRecord,
  returned: Return | null,
  deferralOnArrival: DeferralOnArrival,
): IncomingDelivery {
  const isRetry = returned !== null;
  const read = decodeOrReason(codec, record.value);
  const unreadable = read instanceof PosthasteError ? read : null;
  const delivery = read instanceof PosthasteError ? null : read;
  // A replay may be for some URLs only. The router's records have no progress, so none is looked for in their headers.
  const hasProgress = isRetry || delivery?.originIncarnation === NO_TOPIC_GENERATION;
  return {
    delivery,
    unreadable,
    progress: hasProgress ? readProgress(record, returned) : NO_PROGRESS,
    isRetry,
    republishedFrom: isRetry ? headerText(record.headers, REPUBLISHED_FROM_HEADER) : undefined,
    deferralOnArrival: delivery === null ? null : deferralOnArrival(delivery.destinationId),
    traceparent: undefined,
  };
}

function readProgress({ headers }: IncomingRecord, returned: Return | null): DeliveryProgress {
  const progress = decodeProgress(headers);
  if (returned === null) return progress;
  return boundMoments(progress, { republishedAtMs: republishedAtMs(headers), ...returned });
}
