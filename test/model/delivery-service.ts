/**
 * The parts of delivery over the model's brokers and receivers, joined as `services/delivery/src/app.ts` joins them.
 */

import { headerText, REPUBLISHED_FROM_HEADER } from "@posthaste/contracts/headers";
import { delayMsFromRetryTopic } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import { DEFAULT_URL_HEALTH } from "@posthaste/core/isolation/url-health";
import { SILENT_LOG } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { createConsumers } from "@posthaste/delivery/consumers";
import type { IncomingDelivery } from "@posthaste/delivery/incoming-delivery";
import { createDeliveryMetrics } from "@posthaste/delivery/metrics";
import { OutcomePublisher } from "@posthaste/delivery/outcome-publisher";
import { createPipeline, type PipelineOptions } from "@posthaste/delivery/pipeline";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import { createTable } from "@posthaste/kafka/log/table";
import { GroupCommitProducer } from "@posthaste/kafka/producer/producer";
import { Registry } from "prom-client";
import type { AttemptSeen } from "./delivery-witness.ts";
import { createCodecs, type Installation, NAMES, RETRY_TOPICS, SCHEDULE, TIMING } from "./installation.ts";
import type { ModelProcess, RunningService } from "./model-process.ts";
import { createModelSender } from "./receivers.ts";

/** Counts are nobody's business here. */
const METRICS = createDeliveryMetrics(new Registry(), RETRY_TOPICS);
const CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
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
  const { world, random, scenario, receivers, commits, deliveries } = installation;
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
  const republishTopics = new Set([NAMES.deadLetters, ...RETRY_TOPICS]);
  const republisher = new GroupCommitProducer({
    name: "republish",
    topics: [...republishTopics],
    connection,
    makeClient: () => connection.createBrokerClient(),
    leaders: connection.leadersOf(republishTopics),
  });
  const republish = republisher.send.bind(republisher);
  republisher.send = (records) => {
    if (publishing?.window.isRevoked === true) {
      installation.onViolation(`F3 ${owner.id} republishes from a partition that it gave up`);
    }
    return republish(records);
  };
  /** What is republished while the producer is called. */
  let publishing: Task<IncomingDelivery> | null = null;
  /** Whose permit it is while the sender is called. */
  let sending: { readonly task: Task<IncomingDelivery>; readonly isLast: boolean } | null = null;
  const seen = new WeakMap<object, AttemptSeen>();
  const sender = createModelSender({
    world,
    owner,
    receivers,
    maxConnections: scenario.maxConnections,
    watch: {
      onStart: (request, urls) => {
        if (sending === null) throw new Error("an attempt began without a permit");
        const { isLast, task } = sending;
        const { record, item, window } = task;
        if (item.delivery === null) throw new Error("an attempt of nothing began");
        const attempt: AttemptSeen = {
          ...{ processId: owner.id, record, isRetry: item.isRetry, delivery: item.delivery, urls, isLast },
          ...{ progress: item.progress, destination: request.destination, startedMs: world.nowMs },
          startedByClockMs: Date.now(),
        };
        seen.set(request, attempt);
        if (window.isRevoked) installation.onViolation(`DW0 ${owner.id} sends from a partition that it gave up`);
        const { id, revision } = request.destination;
        if (revision < installation.newestRevision(id, destinations.appliedOffset)) {
          installation.onViolation(`DW3 ${owner.id} sends to ${id} as it was at revision ${revision} (P5)`);
        }
        const republish = headerText(record.headers, REPUBLISHED_FROM_HEADER);
        deliveries.attempted(attempt, destinations.get(request.destination.id), republish);
      },
      onTaken: (request, url) => {
        const attempt = seen.get(request);
        if (attempt !== undefined) deliveries.tookIt(attempt, url);
      },
      onResult: (request, result) => {
        const attempt = seen.get(request);
        if (attempt !== undefined) deliveries.answered(attempt, result, world.nowMs, Date.now());
      },
    },
  });
  const publisher = new OutcomePublisher({
    names: NAMES,
    producer: republisher,
    codec: codecs.deadLetter,
    metrics: METRICS,
    nowMs: CLOCK.nowMs,
    onFailure,
  });
  const publish = publisher.publish.bind(publisher);
  publisher.publish = (task, plans) => {
    const before = publishing;
    publishing = task;
    publish(task, plans);
    publishing = before;
  };
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
    clock: CLOCK,
    random,
    delayMsOf: (topic) => delayMsFromRetryTopic(NAMES, topic) ?? 0,
    log: SILENT_LOG,
    onFailure,
  });
  const { intake, admission, attempts } = pipeline;
  const start = attempts.start.bind(attempts);
  attempts.start = (permit, feedback) => {
    const before = sending;
    sending = { task: permit.request.task, isLast: permit.isLast };
    start(permit, feedback);
    sending = before;
  };
  const consumers = createConsumers(connection, {
    topics: { names: NAMES, deliveryCodec: codecs.delivery, retryTopics: RETRY_TOPICS },
    windowRecords: scenario.windowRecords,
    timing: TIMING,
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
  const { firstAttempts, retries } = consumers;
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
