/**
 * Delivery's reads and writes in Kafka: the tables of destinations and of suppressed users, codecs, producers, and the
 * list of retry topics.
 */
import type { AcceptedLoss } from "@posthaste/contracts/accepted-loss";
import type { Codec } from "@posthaste/contracts/codec";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createSecretBox, type SecretKey } from "@posthaste/contracts/secret-box";
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { AttemptBatch } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { HealthRecord } from "@posthaste/core/health/health-record";
import type { Log } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followSuppressedUsers, type SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import { createTable, type Table, type TableOptions } from "@posthaste/kafka/log/table";
import { createProducer, DRAINED_FLUSH_MS, type Producer } from "@posthaste/kafka/producer/producer";
import { readAcceptedLosses } from "@posthaste/kafka/topics/accepted-losses";
import { existingRetryTopics, verifyTopics } from "@posthaste/kafka/topics/topic-admin";
import type { RegistryAccess } from "@posthaste/runtime/connection-settings";

export interface OpenTopicsOptions {
  readonly names: TopicNames;
  readonly schemaRegistry: RegistryAccess;
  readonly schedule: RetrySchedule;
  readonly secretKeys: readonly SecretKey[];
  readonly log: Log;
  /** Called when a table cannot be followed any more. */
  readonly onFailure: (reason: Error) => void;
  /** After how long the table of destinations counts as behind. */
  readonly table?: Pick<TableOptions<Destination>, "behindLimitMs">;
}

export interface OpenTopics {
  readonly names: TopicNames;
  readonly retryTopics: readonly string[];
  /** As they were at the start. */
  readonly acceptedLosses: readonly AcceptedLoss[];
  /** The table was caught up when `openTopics` resolved. */
  readonly destinations: Table<Destination>;
  /** The table was caught up when `openTopics` resolved. */
  readonly suppressed: SuppressedUsersTable;
  readonly deliveryCodec: Codec<Delivery>;
  readonly deadLetterCodec: Codec<DeadLetter>;
  readonly attemptCodec: Codec<AttemptBatch>;
  /** Writes to the retry topics, the dead letters and the unreadable records. */
  readonly republisher: Producer;
  /** Writes the attempt log. It is a producer of its own, so that no republished record waits behind the log. */
  readonly attempts: Producer;
  readonly healthCodec: Codec<HealthRecord>;
  /** Writes this process's health records. */
  readonly health: Producer;
  readonly close: () => Promise<void>;
}

/** Rejects with `topic_missing` when a topic that delivery needs does not exist; waits for brokers and registry. */
export async function openTopics(connection: KafkaConnection, options: OpenTopicsOptions): Promise<OpenTopics> {
  const { names, log } = options;
  const retryTopics = await findRetryTopics(connection, names, options.schedule);
  const openCodec = createOpenCodec({ ...options.schemaRegistry, names, log });
  const [deliveryCodec, deadLetterCodec, attemptCodec, healthCodec, destinationRecordCodec] = await Promise.all([
    openCodec<Delivery>("delivery"),
    openCodec<DeadLetter>("dead-letter"),
    openCodec<AttemptBatch>("attempt-batch"),
    openCodec<HealthRecord>("destination-health"),
    openCodec<DestinationRecord>("destination"),
  ]);
  const destinationCodec = createDestinationCodec(destinationRecordCodec, createSecretBox(options.secretKeys));
  const destinations = await createTable<Destination>(connection, {
    topic: names.destinationConfig,
    decode: destinationCodec.decode,
    prefetch: destinationCodec.prefetch,
    onFailure: options.onFailure,
    ...options.table,
  });
  const suppressed = await followSuppressedUsers(connection, {
    topic: names.suppressions,
    onFailure: options.onFailure,
  });
  const [acceptedLosses] = await Promise.all([
    readAcceptedLosses(connection, names),
    destinations.caughtUp(),
    suppressed.caughtUp(),
  ]);
  const republisher = await createProducer(connection, {
    name: "republish",
    topics: [names.deadLetters, names.unreadable, ...retryTopics],
  });
  const attempts = await createProducer(connection, { name: "attempts", topics: [names.attempts] });
  const health = await createProducer(connection, { name: "health", topics: [names.destinationHealth] });
  return {
    names,
    retryTopics,
    acceptedLosses,
    destinations,
    suppressed,
    deliveryCodec,
    deadLetterCodec,
    attemptCodec,
    republisher,
    attempts,
    healthCodec,
    health,
    close: async () => {
      await Promise.all([
        republisher.close(DRAINED_FLUSH_MS),
        attempts.close(DRAINED_FLUSH_MS),
        health.close(DRAINED_FLUSH_MS),
        destinations.close(),
        suppressed.close(),
      ]);
    },
  };
}

/** W4: the retry topics of the schedule, which must exist, and all others that exist. */
async function findRetryTopics(
  connection: KafkaConnection,
  names: TopicNames,
  { delaysMs }: RetrySchedule,
): Promise<readonly string[]> {
  const scheduled = delaysMs.map((delayMs) => retryTopicName(names, delayMs));
  await verifyTopics(connection, scheduled);
  return [...new Set([...scheduled, ...(await existingRetryTopics(connection, names))])];
}
