/**
 * The parts of delivery over the model's brokers and receivers, joined as `services/delivery/src/app.ts` joins them.
 */

import { delayMsFromRetryTopic } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import { DEFAULT_URL_HEALTH } from "@posthaste/core/isolation/url-health";
import { SILENT_LOG } from "@posthaste/core/log";
import { createConsumers } from "@posthaste/delivery/consumers";
import { createDeliveryMetrics } from "@posthaste/delivery/metrics";
import { OutcomePublisher } from "@posthaste/delivery/outcome-publisher";
import { createPipeline, type PipelineOptions } from "@posthaste/delivery/pipeline";
import { SYSTEM_CLOCK } from "@posthaste/kafka/connection/system-clock";
import { createTable, type Table } from "@posthaste/kafka/log/table";
import { GroupCommitProducer } from "@posthaste/kafka/producer/producer";
import { Registry } from "prom-client";
import { DeliveryServiceWatch } from "./delivery-service-watch.ts";
import { createCodecs, type Installation, NAMES, RETRY_TOPICS, SCHEDULE, TIMING } from "./installation.ts";
import type { ModelProcess, RunningService } from "./model-process.ts";
import { createModelSender } from "./receivers.ts";

/** Counts are nobody's business here. */
const METRICS = createDeliveryMetrics(new Registry(), RETRY_TOPICS);
const NO_ATTEMPT_LOG: PipelineOptions["attemptLog"] = {
  skips: () => true,
  skipsDeferrals: true,
  add: () => {},
  addDeferral: () => {},
};

const NOTHING_UNREADABLE: PipelineOptions["unreadable"] = {
  put: ({ topic, offset }) => Promise.reject(new Error(`offset ${offset} of ${topic} is unreadable`)),
};

const NOBODY_SUPPRESSED: PipelineOptions["suppressed"] = {
  size: 0,
  has: () => false,
  isCurrent: true,
  whenCurrent: (goOn) => goOn(),
};

/** Resolves when both groups were joined. */
export async function startDeliveryService(owner: ModelProcess, installation: Installation): Promise<RunningService> {
  const { connection } = owner;
  const codecs = createCodecs();
  const onFailure = (reason: Error) => installation.onServiceFailed(owner.id, reason);
  const destinations = await createTable<Destination>(connection, {
    topic: NAMES.destinationConfig,
    prefetch: codecs.destination.prefetch,
    decode: codecs.destination.decode,
    onFailure,
  });
  await destinations.caughtUp();
  const republisher = startRepublisher(owner);
  const watch = new DeliveryServiceWatch(owner, installation, destinations);
  watch.ofRepublisher(republisher);
  const parts: ServiceParts = { owner, installation, codecs, onFailure };
  const pipeline = joinPipeline(parts, destinations, { republisher, watch });
  const { firstAttempts, retries } = consumersOf(parts, pipeline);
  await Promise.all([firstAttempts.start(), retries.start()]);
  const ownedBy = (groupId: string, consumer: typeof firstAttempts) =>
    consumer.owned().map(({ topic, partition }) => ({ groupId, topic, partition }));
  return {
    owned: () => [...ownedBy(NAMES.deliveryGroup, firstAttempts), ...ownedBy(NAMES.retryGroup, retries)],
    stop: async () => {
      await Promise.all([firstAttempts.stop(), retries.stop()]);
      pipeline.close();
      await Promise.all([republisher.close(1000), destinations.close()]);
    },
  };
}

interface ServiceParts {
  readonly owner: ModelProcess;
  readonly installation: Installation;
  readonly codecs: ReturnType<typeof createCodecs>;
  readonly onFailure: (reason: Error) => void;
}

type Pipeline = ReturnType<typeof createPipeline>;

function startRepublisher({ connection }: ModelProcess): GroupCommitProducer {
  const topics = new Set([NAMES.deadLetters, ...RETRY_TOPICS]);
  return new GroupCommitProducer({
    name: "republish",
    topics: [...topics],
    connection,
    makeClient: () => connection.createBrokerClient(),
    leaders: connection.leadersOf(topics),
  });
}

/** The stages from a task to its outcome, watched. */
function joinPipeline(
  { owner, installation, codecs, onFailure }: ServiceParts,
  destinations: Table<Destination>,
  { republisher, watch }: { readonly republisher: GroupCommitProducer; readonly watch: DeliveryServiceWatch },
): Pipeline {
  const { world, random, scenario, receivers } = installation;
  const sender = createModelSender({ world, owner, receivers, maxConnections: scenario.maxConnections, watch });
  const publisher = new OutcomePublisher({
    names: NAMES,
    producer: republisher,
    codec: codecs.deadLetter,
    metrics: METRICS,
    nowMs: SYSTEM_CLOCK.nowMs,
    onFailure,
  });
  watch.ofPublisher(publisher);
  const pipeline = createPipeline({
    destinations,
    suppressed: NOBODY_SUPPRESSED,
    sender,
    publisher,
    attemptLog: NO_ATTEMPT_LOG,
    unreadable: NOTHING_UNREADABLE,
    schedule: SCHEDULE,
    health: DEFAULT_URL_HEALTH,
    metrics: METRICS,
    clock: SYSTEM_CLOCK,
    random,
    delayMsOf: (topic) => delayMsFromRetryTopic(NAMES, topic) ?? 0,
    log: SILENT_LOG,
    onFailure,
  });
  watch.ofAttempts(pipeline.attempts);
  return pipeline;
}

/** Both groups' consumers, not started: each task is told to the witnesses and enters the pipeline. */
function consumersOf({ owner, installation, codecs, onFailure }: ServiceParts, { intake, admission }: Pipeline) {
  const { world, random, scenario, commits, deliveries } = installation;
  return createConsumers(owner.connection, {
    topics: { names: NAMES, deliveryCodec: codecs.delivery, retryTopics: RETRY_TOPICS, acceptedLosses: [] },
    windowRecords: scenario.windowRecords,
    timing: TIMING,
    clock: SYSTEM_CLOCK,
    metrics: METRICS,
    run: (task) => {
      const { record, item } = task;
      const groupId = item.isRetry ? NAMES.retryGroup : NAMES.deliveryGroup;
      commits.started(owner, groupId, task, () => deliveries.finished(owner.id, record, item));
      deliveries.started(owner.id, record, world.nowMs);
      if (item.delivery !== null && item.deferralOnArrival !== null) {
        deliveries.deferredOnArrival(owner.id, item.delivery, world.nowMs);
      }
      intake.run(task);
    },
    deferralOnArrival: (destinationId, window) => admission.deferralOnArrival(destinationId, window),
    isHeldUp: (destinationId) => admission.isHeldUp(destinationId),
    workingSet: { records: 6, leastShare: 1, isBusy: () => random() < 0.5 },
    onFailure,
  });
}
