/**
 * The delivery service: what stands in the deliveries topic, and what came due in the retry topics, to its receivers.
 * First attempts and retries share the admission of their destinations.
 */
import type { SecretKey } from "@posthaste/contracts/secret-box";
import { createTopicNames, delayMsFromRetryTopic } from "@posthaste/contracts/topics";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import { DEFAULT_URL_HEALTH, type UrlHealthSettings } from "@posthaste/core/isolation/url-health";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import type { ConsumerTiming, WindowedConsumer } from "@posthaste/kafka/consumer/windowed-consumer";
import type { KafkaAccess, RegistryAccess } from "@posthaste/runtime/connection-settings";
import type { AddressRules } from "@posthaste/webhook/address-guard";
import { createWebhookSender, type SenderLimits } from "@posthaste/webhook/sender";
import type { Registry } from "prom-client";
import { AttemptLog, type AttemptLogSetting } from "./attempt-log.ts";
import { createConsumers } from "./consumers.ts";
import { Deliverer } from "./deliver-record.ts";
import { DueGate } from "./due-gate.ts";
import { FollowUps } from "./follow-up.ts";
import { Isolation } from "./isolation.ts";
import { createDeliveryGauges, createDeliveryMetrics } from "./metrics.ts";
import { type OpenTopicsOptions, openTopics } from "./topics.ts";

export interface DeliveryOptions {
  readonly kafka: KafkaAccess;
  readonly schemaRegistry: RegistryAccess;
  readonly topicPrefix: string;
  readonly secretKeys: readonly SecretKey[];
  /** Where webhooks may be sent to. */
  readonly addresses: Required<AddressRules>;
  /** Certificates in PEM to trust besides the usual ones. */
  readonly extraCa?: string | undefined;
  readonly schedule: RetrySchedule;
  readonly attemptLog: AttemptLogSetting;
  /** Records of one partition's window; default 2,000. */
  readonly windowRecords?: number;
  readonly log: Log;
  readonly registry: Registry;
  /** Delivery cannot go on; the process should end. */
  readonly onFailure: (reason: Error) => void;
  readonly senderLimits?: Partial<SenderLimits>;
  readonly health?: UrlHealthSettings;
  readonly timing?: Partial<ConsumerTiming>;
  /** When the table of destinations counts as not read to its end. */
  readonly table?: NonNullable<OpenTopicsOptions["table"]>;
  readonly clock?: Clock;
  /** 0 up to but not including 1; for jitter and for sampling the attempt log. */
  readonly random?: () => number;
}

export interface DeliveryService {
  readonly readiness: () => Readonly<Record<string, true | string>>;
  /** Stops intake, waits for what is out, commits, disconnects; within ten seconds, brokers or none. */
  readonly stop: () => Promise<void>;
}

/** As the setting's default: a burst to a receiver that is slow and well finds room beside others, who would stand behind it in a full one. */
const DEFAULT_WINDOW_RECORDS = 2000;
const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Resolves when the destinations are known and both groups were joined; nothing is sent before that. */
export async function startDelivery(options: DeliveryOptions): Promise<DeliveryService> {
  const { log, registry, schedule, onFailure, clock = SYSTEM_CLOCK, random = Math.random } = options;
  const names = createTopicNames(options.topicPrefix);
  const connection = connectKafka({
    ...options.kafka,
    clientId: "posthaste-delivery",
    log,
    metrics: createKafkaMetrics(registry),
  });
  const topics = await openTopics(connection, { ...options, names });
  const { destinations, deadLetterCodec, republisher, attempts, attemptCodec, retryTopics } = topics;

  const metrics = createDeliveryMetrics(registry, retryTopics);
  const attemptLog = new AttemptLog({
    setting: options.attemptLog,
    producer: attempts,
    topic: names.attempts,
    codec: attemptCodec,
    random,
    log,
    onDropped: (dropped) => metrics.attemptLogDropped.inc(dropped),
  });
  const sender = createWebhookSender({
    ...options.addresses,
    ...{ extraCa: options.extraCa, registry, clock },
    limits: options.senderLimits ?? {},
  });
  const isolation = new Isolation({
    settings: { ...(options.health ?? DEFAULT_URL_HEALTH), longestWaitMs: Math.min(...schedule.delaysMs) },
    connections: sender.maxConnections,
    monotonicMs: clock.monotonicMs,
    send: (permit) => deliverer.send(permit),
    defer: (pending, parts) => deliverer.defer(pending, parts),
    judgeAgain: (pending) => deliverer.judgeAgain(pending),
  });
  createDeliveryGauges(registry, {
    breakers: () => isolation.breakers(),
    waitingForAdmission: () => isolation.waiting,
  });
  const followUps = new FollowUps({
    names,
    producer: republisher,
    codec: deadLetterCodec,
    metrics,
    nowMs: clock.nowMs,
    onFailure,
  });
  const deliverer: Deliverer = new Deliverer({
    destinations,
    sender,
    isolation,
    followUps,
    attemptLog,
    dueGate: new DueGate(),
    schedule,
    metrics,
    clock,
    random,
    delayMsOf: (topic) => delayMsFromRetryTopic(names, topic) ?? 0,
    log,
    onFailure,
  });
  const { firstAttempts, retries } = createConsumers(connection, {
    topics,
    windowRecords: options.windowRecords ?? DEFAULT_WINDOW_RECORDS,
    timing: options.timing ?? {},
    metrics,
    run: (task) => deliverer.run(task),
    turnsAway: (destinationId, window) => isolation.turnsAway(destinationId, window),
    onFailure,
  });
  await Promise.all([firstAttempts.start(), retries.start()]);

  return {
    readiness: () => ({
      brokers: connection.brokersState(),
      tables: destinations.state,
      group: isJoined(firstAttempts),
      retryGroup: isJoined(retries),
    }),
    stop: async () => {
      await Promise.all([firstAttempts.stop(), retries.stop()]);
      deliverer.close();
      isolation.close();
      await sender.close();
      // In this order within one turn: the log hands over what waits, its producer sends it and is bounded.
      await Promise.all([attemptLog.close(), topics.close()]);
      await connection.close();
    },
  };
}

function isJoined(consumer: WindowedConsumer): true | string {
  return consumer.isReady || "joining the group";
}
