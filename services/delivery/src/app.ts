/**
 * The delivery service: what stands in the deliveries topic, and what came due in the retry topics, to its receivers.
 *
 * Two consumer groups, since one group has one subscription (C7): fresh deliveries, and every retry topic that exists (W4).
 * Only fresh ones are filtered by origin (D1). Both share the destinations' rooms.
 */
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createSecretBox, type SecretKey } from "@posthaste/contracts/secret-box";
import { createTopicNames, delayMsFromRetryTopic, retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import type { AttemptBatch } from "@posthaste/core/attempt-record";
import type { DeadLetter } from "@posthaste/core/dead-letter";
import type { Delivery } from "@posthaste/core/delivery";
import type { Destination } from "@posthaste/core/destination";
import type { RoomSettings } from "@posthaste/core/destination-room";
import type { Log } from "@posthaste/core/log";
import { decodeOriginFold, NO_LOG_ID, OriginFold, type OriginOfDelivery } from "@posthaste/core/origin";
import type { RetrySchedule } from "@posthaste/core/retry-plan";
import type { Clock } from "@posthaste/core/time";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connect";
import { createWindowedConsumer } from "@posthaste/kafka/consumer";
import { createKafkaMetrics } from "@posthaste/kafka/metrics";
import { createProducer } from "@posthaste/kafka/producer";
import { createOpenCodec } from "@posthaste/kafka/registry";
import { createTable } from "@posthaste/kafka/table";
import { existingRetryTopics, verifyTopics } from "@posthaste/kafka/topic-admin";
import type {
  ConsumerTiming,
  Fold,
  IncomingRecord,
  WindowedConsumer,
  WindowedConsumerOptions,
} from "@posthaste/kafka/window";
import { createWebhookSender, type SenderLimits } from "@posthaste/webhook/sender";
import type { Registry } from "prom-client";
import { AttemptLog, type AttemptLogSetting } from "./attempt-log.ts";
import { Deliverer } from "./deliver-record.ts";
import { DueGate } from "./due-gate.ts";
import { FollowUps } from "./follow-up.ts";
import { Isolation } from "./isolation.ts";
import { createDeliveryGauges, createDeliveryMetrics } from "./metrics.ts";
import { type Intake, takeDelivery } from "./pending.ts";

export interface DeliveryOptions {
  readonly brokers: readonly string[];
  readonly schemaRegistryUrl: string;
  readonly topicPrefix: string;
  readonly secretKeys: readonly SecretKey[];
  readonly allowNetworks: readonly string[];
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
  readonly room?: RoomSettings;
  readonly timing?: Partial<ConsumerTiming>;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface DeliveryService {
  readonly readiness: () => Readonly<Record<string, true | string>>;
  /** Stops intake, waits for what is out, commits, disconnects. */
  readonly stop: () => Promise<void>;
}

const DEFAULT_WINDOW_RECORDS = 2000;
const WINDOW_BYTES = 16 * 1024 * 1024;
const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Resolves when the destinations are known and both groups were joined; nothing is sent before that. */
export async function startDelivery(options: DeliveryOptions): Promise<DeliveryService> {
  const { log, registry, schedule, onFailure, clock = SYSTEM_CLOCK, random = Math.random } = options;
  const names = createTopicNames(options.topicPrefix);
  const connection = connectKafka({
    brokers: options.brokers,
    clientId: "posthaste-delivery",
    log,
    metrics: createKafkaMetrics(registry),
  });
  const retryTopics = await findRetryTopics(connection, names, schedule);
  const metrics = createDeliveryMetrics(registry, retryTopics);
  const openCodec = createOpenCodec({ url: options.schemaRegistryUrl, names, log });
  const [deliveryCodec, deadLetterCodec, attemptCodec, destinationRecordCodec] = await Promise.all([
    openCodec<Delivery>("delivery"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<AttemptBatch>("attempt-batch"),
    openCodec<DestinationRecord>("destination"),
  ]);
  const destinationCodec = createDestinationCodec(destinationRecordCodec, createSecretBox(options.secretKeys));
  const destinations = await createTable<Destination>(connection, {
    topic: names.destinationConfig,
    decode: destinationCodec.decode,
    learn: destinationCodec.learn,
  });
  await destinations.caughtUp();

  const handOffs = await createProducer(connection, { name: "hand-offs", topics: [names.deadLetters, ...retryTopics] });
  const attempts = await createProducer(connection, { name: "attempts", topics: [names.attempts] });
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
    allowNetworks: options.allowNetworks,
    extraCa: options.extraCa,
    registry,
    clock,
    limits: options.senderLimits ?? {},
  });
  const isolation = new Isolation({
    monotonicMs: clock.monotonicMs,
    send: (turn) => deliverer.send(turn),
    putOff: (pending, cause, notBeforeMs) => deliverer.putOff(pending, cause, notBeforeMs),
    ...(options.room === undefined ? {} : { settings: options.room }),
  });
  createDeliveryGauges(registry, { breakers: () => isolation.breakers(), waitingForRoom: () => isolation.waiting });
  const delayMsOf = (topic: string): number => delayMsFromRetryTopic(names, topic) ?? 0;
  const deliverer: Deliverer = new Deliverer({
    destinations,
    sender,
    isolation,
    followUps: new FollowUps({
      names,
      producer: handOffs,
      codec: deadLetterCodec,
      metrics,
      nowMs: clock.nowMs,
      onFailure,
    }),
    attemptLog,
    dueGate: new DueGate(),
    schedule,
    metrics,
    clock,
    random,
    delayMsOf,
    log,
    onFailure,
  });

  const shared = {
    window: { maxRecords: options.windowRecords ?? DEFAULT_WINDOW_RECORDS, maxBytes: WINDOW_BYTES },
    learn: ({ value }: IncomingRecord) => (value === null ? undefined : deliveryCodec.learn(value)),
    laneOf: (_: Intake, { key }: IncomingRecord) => key?.toString("latin1") ?? null,
    holderOf: ({ delivery }: Intake) => delivery?.destinationId ?? "",
    run: (task) => deliverer.run(task),
    onFailure,
    ...(options.timing === undefined ? {} : { timing: options.timing }),
  } satisfies Partial<WindowedConsumerOptions<Intake, OriginOfDelivery>>;
  const fresh = createWindowedConsumer<Intake, OriginOfDelivery>(connection, {
    ...shared,
    groupId: names.deliveryGroup,
    topics: [names.deliveries],
    take: (record) => takeDelivery(deliveryCodec, record, false),
    fold: ORIGIN_FOLD,
    onRepeat: () => metrics.repeats.inc({ kind: "origin" }),
  });
  const returning = createWindowedConsumer<Intake>(connection, {
    ...shared,
    groupId: names.retryGroup,
    topics: retryTopics,
    take: (record) => takeDelivery(deliveryCodec, record, true),
    delayMsOf,
    onReleased: (topic, latenessMs) => metrics.retryLateness.observe({ topic }, latenessMs / 1000),
  });
  await Promise.all([fresh.start(), returning.start()]);

  return {
    readiness: () => ({ deliveries: isJoined(fresh), retries: isJoined(returning) }),
    stop: async () => {
      await Promise.all([fresh.stop(), returning.stop()]);
      deliverer.close();
      isolation.close();
      await sender.close();
      await attemptLog.close();
      await Promise.all([handOffs.close(), attempts.close(), destinations.close()]);
      await connection.close();
    },
  };
}

function isJoined(consumer: WindowedConsumer): true | string {
  return consumer.isReady || "joining the group";
}

/** W4: those of the schedule, which must exist, and every other that does. */
async function findRetryTopics(
  connection: KafkaConnection,
  names: TopicNames,
  { delaysMs }: RetrySchedule,
): Promise<readonly string[]> {
  const scheduled = delaysMs.map((delayMs) => retryTopicName(names, delayMs));
  await verifyTopics(connection, scheduled);
  return [...new Set([...scheduled, ...(await existingRetryTopics(connection, names))])];
}

/** D1 to D3. A record that nothing reads has no origin, and is no repeat. */
const ORIGIN_FOLD: Fold<Intake, OriginOfDelivery> = {
  pick: ({ delivery }) =>
    delivery === null
      ? NO_ORIGIN
      : {
          originLogId: delivery.originLogId,
          originPartition: delivery.originPartition,
          originOffset: delivery.originOffset,
          destinationId: delivery.destinationId,
        },
  open: (text) => (text === null ? new OriginFold() : decodeOriginFold(text)),
};

const NO_ORIGIN: OriginOfDelivery = { originLogId: NO_LOG_ID, originPartition: 0, originOffset: 0, destinationId: "" };
