/** What kafkajs's consumer is told: its times, how much it fetches, and that it never gives up by itself (C7, C8). */

import type { ConsumerConfig, RetryOptions } from "kafkajs";
import { UNKNOWN_SCHEMA_PATIENCE_MS } from "../codec/awaited-schemas.ts";
import type { ConsumerTiming, WindowedConsumerOptions } from "./windowed-consumer.ts";

const DEFAULT_TIMING: ConsumerTiming = {
  sessionTimeoutMs: 10_000,
  heartbeatIntervalMs: 500,
  maxWaitMs: 20,
  idleMaxWaitMs: 1000,
  commitIntervalMs: 100,
  rebalanceDrainMs: 1000,
  lastCommitMs: 1000,
  commitDeadlineMs: 5000,
  stopDrainMs: 6000,
  stallLimitMs: 60_000,
  metadataMaxAgeMs: 60_000,
  unknownSchemaMs: UNKNOWN_SCHEMA_PATIENCE_MS,
};
/** A record of a retry topic may leave up to a second late, so its consumer need not look as often. */
const WAITING_MAX_WAIT_MS = 100;
/** W3: what a head that waits brings along is dropped and fetched again. */
const WAITING_MAX_BYTES_PER_PARTITION = 64 * 1024;
const MAX_BYTES_PER_PARTITION = 512 * 1024;
/**
 * Of one fetch: enough for sixteen full partitions, or for all retry topics. kafkajs names the partitions in the same
 * order each time, and those at the end wait where the answer is full.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/**
 * A broker's fault must not crash the consumer, whose restart would wait for its own former member (C7): so kafkajs as
 * good as never gives up the group, nor its search for a broker, which ends when the client is destroyed.
 */
const FOR_EVER = 1_000_000_000;
const PAUSES = { initialRetryTime: 100, maxRetryTime: 500 };

/** For kafkajs's client, whose retries are its search for brokers. */
export const CLIENT_RETRY: RetryOptions = { ...PAUSES, retries: FOR_EVER };

type Kind = Pick<WindowedConsumerOptions<never>, "delayMsOf" | "timing" | "groupId">;

/** The given times, and the defaults of the consumer's kind for the others. */
export function resolveTiming({ delayMsOf, timing }: Pick<Kind, "delayMsOf" | "timing">): ConsumerTiming {
  const waits = delayMsOf === undefined ? {} : { maxWaitMs: WAITING_MAX_WAIT_MS };
  return { ...DEFAULT_TIMING, ...waits, ...timing };
}

/** For `kafka.consumer`, less the assigner. */
export function consumerSettings({ groupId, delayMsOf }: Kind, timing: ConsumerTiming): ConsumerConfig {
  return {
    groupId,
    sessionTimeout: timing.sessionTimeoutMs,
    rebalanceTimeout: timing.sessionTimeoutMs,
    heartbeatInterval: timing.heartbeatIntervalMs,
    maxWaitTimeInMs: timing.maxWaitMs,
    metadataMaxAge: timing.metadataMaxAgeMs,
    allowAutoTopicCreation: false,
    maxBytesPerPartition: delayMsOf === undefined ? MAX_BYTES_PER_PARTITION : WAITING_MAX_BYTES_PER_PARTITION,
    maxBytes: MAX_BYTES,
    retry: { ...PAUSES, retries: FOR_EVER, restartOnFailure: () => Promise.resolve(false) },
  };
}
