/**
 * The two consumer groups of delivery, since one group has one subscription (C7): first attempts, and every retry topic
 * that exists (W4). Only first attempts are filtered by origin (D1).
 */
import type { AcceptedLoss } from "@posthaste/contracts/accepted-loss";
import type { Codec } from "@posthaste/contracts/codec";
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import { traceparentIn } from "@posthaste/contracts/trace-header";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { OriginOfDelivery } from "@posthaste/core/delivery/origin";
import type { DeferralCause } from "@posthaste/core/isolation/permit";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type {
  ConsumerTiming,
  PartitionWindow,
  Task,
  WindowedConsumer,
  WindowedConsumerOptions,
  WorkingSet,
} from "@posthaste/kafka/consumer/windowed-consumer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { Traces } from "@posthaste/runtime/traces";
import type { DeliveryMetrics } from "../metrics.ts";
import { createEventLoopLoad } from "./event-loop-load.ts";
import { type IncomingDelivery, type Return, readDelivery } from "./incoming-delivery.ts";
import { originCheckpoint } from "./origin-checkpoint.ts";

const WINDOW_BYTES = 16 * 1024 * 1024;
/** The records that first attempts hold in all windows together while the process is busy. */
const WORKING_SET = { records: 1500, leastShare: 32 };

const OUT_OF_RANGE_ADVICE =
  "records were deleted that no attempt was made at yet: posthaste doctor says how many, and " +
  "posthaste topics accept-loss goes on without them";

/** The topics that the groups read. */
export interface ReadTopics {
  readonly names: TopicNames;
  readonly retryTopics: readonly string[];
  readonly deliveryCodec: Codec<Delivery>;
  readonly acceptedLosses: readonly AcceptedLoss[];
}

export interface ConsumersOptions {
  readonly topics: ReadTopics;
  /** How many records the window of one partition holds. */
  readonly windowRecords: number;
  readonly timing: Partial<ConsumerTiming>;
  readonly clock: Pick<Clock, "nowMs">;
  readonly metrics: DeliveryMetrics;
  /** Absent while traces are off. */
  readonly traces?: Pick<Traces, "read"> | undefined;
  /** Starts the work on a record whose turn in its lane has come. */
  readonly run: (task: Task<IncomingDelivery>) => void;
  /** Asked once for each delivery, when its record is taken into a window (see `Admission.deferralOnArrival`). */
  readonly deferralOnArrival: (destinationId: string, window: PartitionWindow) => DeferralCause | null;
  /** Whether the destination's deliveries wait for something outside of this process. */
  readonly isHeldUp: (destinationId: string) => boolean;
  /** The working set of first attempts; default `WORKING_SET`, while this process's event loop is busy. */
  readonly workingSet?: Omit<WorkingSet, "isHeldUp">;
  readonly onFailure: (reason: Error) => void;
}

export interface Consumers {
  readonly firstAttempts: WindowedConsumer;
  readonly retries: WindowedConsumer;
}

/** Creates both groups and starts neither. */
export function createConsumers(connection: KafkaConnection, options: ConsumersOptions): Consumers {
  const { topics, metrics, traces, isHeldUp, workingSet = { ...WORKING_SET, isBusy: createEventLoopLoad() } } = options;
  const { names, deliveryCodec, retryTopics, acceptedLosses } = topics;
  const shared = {
    window: { maxRecords: options.windowRecords, maxBytes: WINDOW_BYTES },
    schemaOf: deliveryCodec.prefetch,
    // latin1 reads one byte as one character: keys that differ as bytes differ as text, and nothing decodes UTF-8.
    laneOf: ({ deferralOnArrival }: IncomingDelivery, { key }: IncomingRecord) =>
      deferralOnArrival === null ? (key?.toString("latin1") ?? null) : null,
    ownerOf: ({ delivery }: IncomingDelivery) => delivery?.destinationId ?? "",
    run: options.run,
    onFailure: options.onFailure,
    timing: options.timing,
    acceptedLosses,
    outOfRangeAdvice: OUT_OF_RANGE_ADVICE,
  } satisfies Partial<WindowedConsumerOptions<IncomingDelivery, OriginOfDelivery>>;
  const retryDelayOf = (topic: string) => delayMsFromRetryTopic(names, topic) ?? 0;
  const read = (record: IncomingRecord, window: PartitionWindow, returned: Return | null) => {
    const deferral = (destinationId: string) => options.deferralOnArrival(destinationId, window);
    const incoming = readDelivery(deliveryCodec, record, returned, deferral);
    if (traces !== undefined) incoming.traceparent = traces.read(traceparentIn(record.headers));
    return incoming;
  };
  return {
    firstAttempts: createWindowedConsumer<IncomingDelivery, OriginOfDelivery>(connection, {
      ...shared,
      groupId: names.deliveryGroup,
      topics: [names.deliveries],
      workingSet: { ...workingSet, isHeldUp },
      take: (record, window) => read(record, window, null),
      checkpoint: originCheckpoint(metrics),
      onRepeat: () => metrics.repeats.inc({ kind: "origin" }),
    }),
    // Retries have no working set: they keep their places while they wait for their jitter, which shrinks only as a
    // window fills (W6).
    retries: createWindowedConsumer<IncomingDelivery>(connection, {
      ...shared,
      groupId: names.retryGroup,
      topics: retryTopics,
      take: (record, window) =>
        read(record, window, { delayMs: retryDelayOf(record.topic), nowMs: options.clock.nowMs() }),
      delayMsOf: retryDelayOf,
      onReleased: (topic, latenessMs) => metrics.retryLateness.observe({ topic }, latenessMs / 1000),
    }),
  };
}
