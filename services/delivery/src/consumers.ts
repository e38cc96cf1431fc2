/**
 * The two consumer groups of delivery, since one group has one subscription (C7): first attempts, and every retry topic
 * that exists (W4). Only first attempts are filtered by origin (D1).
 */
import { delayMsFromRetryTopic } from "@posthaste/contracts/topics";
import {
  condenseOrigins,
  decodeOriginCheckpoint,
  type LeftOut,
  NO_INCARNATION,
  OriginCheckpoint,
  type OriginOfDelivery,
} from "@posthaste/core/delivery/origin";
import type { DeferralCause } from "@posthaste/core/isolation/permit";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type {
  Checkpoint,
  ConsumerTiming,
  PartitionWindow,
  Task,
  WindowedConsumer,
  WindowedConsumerOptions,
} from "@posthaste/kafka/consumer/windowed-consumer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { DeliveryMetrics } from "./metrics.ts";
import { type Intake, takeDelivery } from "./pending.ts";
import type { OpenTopics } from "./topics.ts";

const WINDOW_BYTES = 16 * 1024 * 1024;

export interface ConsumersOptions {
  readonly topics: OpenTopics;
  /** Records of one partition's window. */
  readonly windowRecords: number;
  readonly timing: Partial<ConsumerTiming>;
  readonly metrics: DeliveryMetrics;
  readonly run: (task: Task<Intake>) => void;
  /** Asked at intake of each delivery (see `Isolation.turnsAway`). */
  readonly turnsAway: (destinationId: string, window: PartitionWindow) => DeferralCause | null;
  readonly onFailure: (reason: Error) => void;
}

export interface Consumers {
  readonly firstAttempts: WindowedConsumer;
  readonly retries: WindowedConsumer;
}

/** Starts neither. */
export function createConsumers(connection: KafkaConnection, options: ConsumersOptions): Consumers {
  const { topics, metrics } = options;
  const { names, deliveryCodec, retryTopics } = topics;
  const shared = {
    window: { maxRecords: options.windowRecords, maxBytes: WINDOW_BYTES },
    prefetch: ({ value }: IncomingRecord) => (value === null ? undefined : deliveryCodec.prefetch(value)),
    // One byte a character: keys that differ as bytes differ as text, and no UTF-8 is decoded.
    laneOf: ({ turnedAway }: Intake, { key }: IncomingRecord) =>
      turnedAway === null ? (key?.toString("latin1") ?? null) : null,
    ownerOf: ({ delivery }: Intake) => delivery?.destinationId ?? "",
    run: options.run,
    onFailure: options.onFailure,
    timing: options.timing,
  } satisfies Partial<WindowedConsumerOptions<Intake, OriginOfDelivery>>;
  const takeFrom = (isRetry: boolean) => (record: IncomingRecord, window: PartitionWindow) =>
    takeDelivery(deliveryCodec, record, isRetry, (destinationId) => options.turnsAway(destinationId, window));
  return {
    firstAttempts: createWindowedConsumer<Intake, OriginOfDelivery>(connection, {
      ...shared,
      groupId: names.deliveryGroup,
      topics: [names.deliveries],
      take: takeFrom(false),
      checkpoint: originCheckpoint(metrics),
      onRepeat: () => metrics.repeats.inc({ kind: "origin" }),
    }),
    retries: createWindowedConsumer<Intake>(connection, {
      ...shared,
      groupId: names.retryGroup,
      topics: retryTopics,
      take: takeFrom(true),
      delayMsOf: (topic) => delayMsFromRetryTopic(names, topic) ?? 0,
      onReleased: (topic, latenessMs) => metrics.retryLateness.observe({ topic }, latenessMs / 1000),
    }),
  };
}

const NO_ORIGIN: OriginOfDelivery = {
  originIncarnation: NO_INCARNATION,
  originPartition: 0,
  originOffset: 0,
  destinationId: "",
};

/** D1 to D3. A record that nothing reads has no origin, and is no repeat. */
function originCheckpoint({ originsLeftOut }: DeliveryMetrics): Checkpoint<Intake, OriginOfDelivery> {
  const onLeftOut = ({ entries, destinationIds }: LeftOut): void => {
    originsLeftOut.inc({ what: "entry" }, entries);
    originsLeftOut.inc({ what: "destination" }, destinationIds);
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
    open: (text) => (text === null ? new OriginCheckpoint(onLeftOut) : decodeOriginCheckpoint(text, onLeftOut)),
  };
}
