/** The consumer of the events topic, which gives each event to the router. */
import type { Codec } from "@posthaste/contracts/codec";
import type { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type { ConsumerTiming, WindowedConsumer, WindowLimits } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Producer } from "@posthaste/kafka/producer/producer";
import { TOPICS_PROGRAM } from "@posthaste/kafka/topics/topic-generation";
import type { Dedupe } from "./dedupe.ts";
import type { RecordRouter } from "./route-records.ts";

/** The limits of each partition's window: large enough for the producer's batches to be as large as is useful. */
const DEFAULT_WINDOW: WindowLimits = { maxRecords: 4096, maxBytes: 16 * 1024 * 1024 };

/**
 * How many bytes of deliveries may wait for the brokers before the router stops reading events (C11). A bound on events
 * alone would not do, since an event becomes as many deliveries as it has destinations. 8 MB are some full batches for
 * each partition; more wins no throughput.
 */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

/**
 * How an operator mends a committed offset that is out of range. Without a new topic generation the events that are
 * read again would count as repeats of those that were routed before (D2).
 */
const OUT_OF_RANGE_ADVICE =
  "stop the routers, set their group's offset with kafka-consumer-groups.sh --reset-offsets, " +
  `run ${TOPICS_PROGRAM} --raise-incarnation, and start them`;

export interface EventConsumerOptions {
  readonly groupId: string;
  readonly topic: string;
  /** Kafka's own id of the topic. */
  readonly topicId: string | null;
  readonly codec: Codec<Event>;
  readonly router: RecordRouter;
  readonly producer: Producer;
  readonly dedupe: Dedupe | null;
  readonly onFailure: (reason: Error) => void;
  readonly window: WindowLimits | undefined;
  readonly timing: Partial<ConsumerTiming> | undefined;
}

export function createEventConsumer(connection: KafkaConnection, options: EventConsumerOptions): WindowedConsumer {
  const { groupId, topic, topicId, codec, router, producer, dedupe, onFailure } = options;
  return createWindowedConsumer<Event | PosthasteError>(connection, {
    groupId,
    topics: [topic],
    window: options.window ?? DEFAULT_WINDOW,
    schemaOf: codec.prefetch,
    take: (record) => router.take(record),
    laneOf: () => null,
    backpressure: producer.backpressure(MAX_PENDING_BYTES),
    run: (task) => router.run(task),
    onRevoked: (windows) => {
      for (const { partition } of windows) dedupe?.forget(partition);
    },
    onFailure,
    timing: options.timing ?? {},
    topicIds: new Map([[topic, topicId]]),
    outOfRangeAdvice: OUT_OF_RANGE_ADVICE,
  });
}
