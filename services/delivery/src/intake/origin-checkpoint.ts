/**
 * The checkpoint of origins in commits (D1 to D3 of `core/delivery/origin.ts`), and the count of origins that it drops
 * for size.
 */
import {
  condenseOrigins,
  type Dropped,
  decodeOriginCheckpoint,
  NO_TOPIC_GENERATION,
  OriginCheckpoint,
  type OriginOfDelivery,
} from "@posthaste/core/delivery/origin";
import type { Checkpoint } from "@posthaste/kafka/consumer/windowed-consumer";
import type { DeliveryMetrics } from "../metrics.ts";
import type { IncomingDelivery } from "./incoming-delivery.ts";

const NO_ORIGIN: OriginOfDelivery = {
  originIncarnation: NO_TOPIC_GENERATION,
  originPartition: 0,
  originOffset: 0,
  destinationId: "",
};

/** A record that no schema reads has no origin, so that it is no repeat. */
export function originCheckpoint({
  droppedOrigins,
}: Pick<DeliveryMetrics, "droppedOrigins">): Checkpoint<IncomingDelivery, OriginOfDelivery> {
  const onDropped = ({ entries, destinationIds }: Dropped): void => {
    droppedOrigins.inc({ what: "entry" }, entries);
    droppedOrigins.inc({ what: "destination" }, destinationIds);
  };
  return {
    pick: ({ delivery }) =>
      delivery === null
        ? NO_ORIGIN
        : {
            originIncarnation: delivery.originIncarnation,
            originPartition: delivery.originPartition,
            originOffset: delivery.originOffset,
            destinationId: delivery.destinationId,
          },
    condense: condenseOrigins,
    open: (text) => (text === null ? new OriginCheckpoint(onDropped) : decodeOriginCheckpoint(text, onDropped)),
  };
}
