/**
 * The delivery service: it sends the records of the deliveries topic, and due records of the retry topics, to their
 * receivers. First attempts and retries share the stages of `pipeline.ts`, and so the admission of their destinations.
 */

import { randomBytes } from "node:crypto";
import type { SecretKey } from "@posthaste/contracts/secret-box";
import { createTopicNames, delayMsFromRetryTopic } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import { DEFAULT_URL_HEALTH, type UrlHealthSettings } from "@posthaste/core/isolation/url-health";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import { SYSTEM_CLOCK } from "@posthaste/kafka/connection/system-clock";
import type { ConsumerTiming, WindowedConsumer } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Table } from "@posthaste/kafka/log/table";
import { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import type { KafkaAccess, RegistryAccess } from "@posthaste/runtime/connection-settings";
import type { Traces } from "@posthaste/runtime/traces";
import type { AddressRules } from "@posthaste/webhook/address-guard";
import { createWebhookSender, type SenderLimits } from "@posthaste/webhook/sender";
import type { Registry } from "prom-client";
import { withCanaries } from "./attempt/canary-sender.ts";
import { HealthWriter } from "./health/health-writer.ts";
import { createConsumers } from "./intake/consumers.ts";
import { createDeliveryGauges, createDeliveryMetrics, type DeliveryMetrics } from "./metrics.ts";
import { AttemptLog, type AttemptLogSetting } from "./outcome/attempt-log.ts";
import { OutcomePublisher } from "./outcome/outcome-publisher.ts";
import { createPipeline, type Pipeline } from "./pipeline.ts";
import { type OpenTopics, type OpenTopicsOptions, openTopics } from "./topics.ts";

export interface DeliveryOptions {
  readonly kafka: KafkaAccess;
  readonly schemaRegistry: RegistryAccess;
  readonly topicPrefix: string;
  readonly secretKeys: readonly SecretKey[];
  /** Where webhooks may be sent to. */
  readonly addresses: Required<AddressRules>;
  /** Where control processes get their canaries, such as `http://control:8090`. */
  readonly canaryOrigins?: readonly string[];
  /** Certificates in PEM to trust besides the usual ones. */
  readonly extraCa?: string | undefined;
  readonly schedule: RetrySchedule;
  readonly attemptLog: AttemptLogSetting;
  /** The most destinations with metrics of their own; default 300. */
  readonly metricsDestinations?: number;
  /** How many records the window of one partition holds; default 2,000. */
  readonly windowRecords?: number;
  readonly log: Log;
  readonly registry: Registry;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
  /** Called when delivery cannot go on; the process should end. */
  readonly onFailure: (reason: Error) => void;
  readonly senderLimits?: Partial<SenderLimits>;
  readonly health?: UrlHealthSettings;
  readonly timing?: Partial<ConsumerTiming>;
  /** After how long the table of destinations counts as behind. */
  readonly table?: NonNullable<OpenTopicsOptions["table"]>;
  readonly clock?: Clock;
  /** Returns at least 0 and below 1, for jitter and for the share of attempts that is logged. */
  readonly random?: () => number;
  /** The name of this process; drawn at random when it is absent. */
  readonly instance?: string;
}

export interface DeliveryService {
  readonly readiness: () => Readonly<Record<string, true | string>>;
  /**
   * Stops intake, waits for requests that are out, commits and disconnects: within ten seconds, whether brokers answer
   * or not.
   */
  readonly stop: () => Promise<void>;
}

/**
 * The setting's default. A window of this size has places for other destinations beside a burst to a receiver that is
 * slow and healthy; a burst would fill a smaller one and keep the others out.
 */
const DEFAULT_WINDOW_RECORDS = 2000;
/**
 * Resolves when the tables of destinations and of suppressed users were read to their ends and both groups were joined;
 * nothing is sent before.
 */
export async function startDelivery(options: DeliveryOptions): Promise<DeliveryService> {
  const { log, registry, traces, schedule, onFailure, clock = SYSTEM_CLOCK, random = Math.random } = options;
  const names = createTopicNames(options.topicPrefix);
  const ownMetrics = { log, metrics: createKafkaMetrics(registry) };
  const connection = connectKafka({ ...options.kafka, ...ownMetrics, clientId: "posthaste-delivery" });
  const topics = await openTopics(connection, { ...options, names });
  const { destinations, suppressed } = topics;
  const metrics = createDeliveryMetrics(registry, topics.retryTopics, options.metricsDestinations);
  const outcomes = createOutcomes(options, { connection, topics, metrics, clock, random });
  const senderOptions = { extraCa: options.extraCa, clock, limits: options.senderLimits ?? {} };
  const sender = withCanaries(
    createWebhookSender({ ...options.addresses, ...senderOptions, registry }),
    options.canaryOrigins ?? [],
    senderOptions,
  );
  const pipeline = createPipeline({
    destinations,
    suppressed,
    sender,
    ...outcomes,
    schedule,
    health: options.health ?? DEFAULT_URL_HEALTH,
    metrics,
    clock,
    random,
    delayMsOf: (topic) => delayMsFromRetryTopic(names, topic) ?? 0,
    log,
    traces,
    onFailure,
  });
  const { intake, admission } = pipeline;
  const health = openHealth(options, { topics, pipeline, clock });
  const { firstAttempts, retries } = createConsumers(connection, {
    topics,
    windowRecords: options.windowRecords ?? DEFAULT_WINDOW_RECORDS,
    timing: options.timing ?? {},
    clock,
    metrics,
    traces,
    run: (task) => intake.run(task),
    deferralOnArrival: (destinationId, window) => admission.deferralOnArrival(destinationId, window),
    isHeldUp: (destinationId) => admission.isHeldUp(destinationId),
    onFailure,
  });
  openGauges(registry, { topics, pipeline, clock, consumers: [firstAttempts, retries] });
  await Promise.all([firstAttempts.start(), retries.start()]);

  return {
    readiness: () => ({
      brokers: connection.brokersState(),
      tables: destinations.state === true ? suppressed.state : destinations.state,
      group: isJoined(firstAttempts),
      retryGroup: isJoined(retries),
    }),
    stop: async () => {
      await Promise.all([firstAttempts.stop(), retries.stop()]);
      pipeline.close();
      await sender.close();
      // All are called in one turn of the event loop, the topics last: the log and the health writer give their held
      // records to their producers, whose close has an end.
      await Promise.all([outcomes.attemptLog.close(), health.close(), topics.close()]);
      await connection.close();
    },
  };
}

interface OutcomeParts {
  readonly connection: KafkaConnection;
  readonly topics: OpenTopics;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Creates the writers of outcomes: the publisher of follow-ups, the attempt log, and the log of unreadable records. */
function createOutcomes(options: DeliveryOptions, { connection, topics, metrics, clock, random }: OutcomeParts) {
  const { log, onFailure } = options;
  const { names, republisher, retryTopics } = topics;
  return {
    attemptLog: new AttemptLog({
      setting: options.attemptLog,
      producer: topics.attempts,
      topic: names.attempts,
      codec: topics.attemptCodec,
      random,
      log,
      onDropped: (dropped) => metrics.attemptLogDropped.inc(dropped),
    }),
    publisher: new OutcomePublisher({
      names,
      producer: republisher,
      codec: topics.deadLetterCodec,
      metrics,
      nowMs: clock.nowMs,
      onFailure,
    }),
    unreadable: new UnreadableRecords({
      ...{ connection, producer: republisher, topic: names.unreadable, by: "delivery", nowMs: clock.nowMs },
      from: [names.deliveries, ...retryTopics],
    }),
  };
}

interface HealthParts {
  readonly topics: OpenTopics;
  readonly pipeline: Pipeline;
  readonly clock: Clock;
}

/** Starts to write this process's settings and its health reports on destinations. */
function openHealth(options: DeliveryOptions, { topics, pipeline, clock }: HealthParts): HealthWriter {
  const { schedule, attemptLog, windowRecords = DEFAULT_WINDOW_RECORDS, log } = options;
  return new HealthWriter({
    instance: options.instance ?? randomBytes(8).toString("hex"),
    process: {
      startedAtMs: Math.round(clock.nowMs()),
      retryDelaysMs: schedule.delaysMs,
      retryWindowMs: schedule.windowMs,
      windowRecords,
      logsFailures: attemptLog.failures,
      loggedShare: attemptLog.deliveredShare,
    },
    counts: pipeline.healthCounts,
    activeOf: (destinationId) => pipeline.activeDestinations.peek(destinationId)?.admission,
    producer: topics.health,
    topic: topics.names.destinationHealth,
    codec: topics.healthCodec,
    clock,
    log,
  });
}

/** Adds the gauges that read the state of the pipeline, the table of destinations and the owned partitions. */
function openGauges(
  registry: Registry,
  { topics, pipeline, clock, consumers }: HealthParts & { readonly consumers: readonly WindowedConsumer[] },
): void {
  const { admission, activeDestinations } = pipeline;
  createDeliveryGauges(registry, {
    breakers: () => activeDestinations.breakers(),
    waitingForAdmission: () => admission.waiting,
    unknownKeys: () => countUnknownKeys(topics.destinations),
    heldPartitions: () =>
      consumers
        .flatMap((consumer) => consumer.owned())
        .flatMap(({ topic, partition, lowestOwner: destination }) =>
          destination &&
          activeDestinations.wasHeardLately(destination, clock.monotonicMs()) &&
          admission.isHeldUp(destination)
            ? [{ topic, partition, destination }]
            : [],
        ),
  });
}

function countUnknownKeys(destinations: Pick<Table<Destination>, "entries">): number {
  let unknown = 0;
  for (const [, { missingKeyIds }] of destinations.entries()) if (missingKeyIds !== null) unknown += 1;
  return unknown;
}

function isJoined(consumer: WindowedConsumer): true | string {
  return consumer.isReady || "joining the group";
}
