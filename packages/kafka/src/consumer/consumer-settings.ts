/** The settings of kafkajs's consumer: times, sizes of fetches, and retries without end (C7, C8). */

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
/** In ms. Records of a retry topic may leave up to a second late, so their consumer need not see a resume sooner. */
const WAITING_MAX_WAIT_MS = 100;
/** Fetched records behind a head that is not due are dropped and fetched again (W3), so a fetch brings few of them. */
const WAITING_MAX_BYTES_PER_PARTITION = 64 * 1024;
const MAX_BYTES_PER_PARTITION = 512 * 1024;
/**
 * Bytes of one fetch: enough for sixteen full partitions, or for all partitions of retry topics. kafkajs names the
 * partitions in the same order in each fetch, so a full answer makes the last ones wait.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/**
 * A consumer that crashes restarts as a new member and waits until the session of its former member ends (C7). So that
 * no fault of a broker crashes it, kafkajs repeats joins and its search for brokers this often. Destroying the client
 * ends that search.
 */
const UNLIMITED = 1_000_000_000;
const PAUSES = { initialRetryTime: 100, maxRetryTime: 500 };

/** The retries of kafkajs's client, which are its search for brokers. */
export const CLIENT_RETRY: RetryOptions = { ...PAUSES, retries: UNLIMITED };

type Kind = Pick<WindowedConsumerOptions<never>, "delayMsOf" | "timing" | "groupId">;

/** The caller's times, and the defaults for all others. */
export function resolveTiming({ delayMsOf, timing }: Pick<Kind, "delayMsOf" | "timing">): ConsumerTiming {
  const waits = delayMsOf === undefined ? {} : { maxWaitMs: WAITING_MAX_WAIT_MS };
  return { ...DEFAULT_TIMING, ...waits, ...timing };
}

/** The settings for `kafka.consumer`, without the assigner. */
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
    retry: { ...PAUSES, retries: UNLIMITED, restartOnFailure: () => Promise.resolve(false) },
  };
}
