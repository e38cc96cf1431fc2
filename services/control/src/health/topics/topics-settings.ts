/** The settings of the program that makes the topics. */
import { DEFAULT_TOPIC_PREFIX, type KeptTopic, RETENTIONS } from "@posthaste/contracts/topics";
import { DEFAULT_RETRY_DELAYS_MS } from "@posthaste/core/delivery/backoff";
import { duration, durations, wholeNumber } from "@posthaste/runtime/config";
import { withConnections } from "@posthaste/runtime/connection-settings";
import { z } from "zod";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A retention, not below the topic's least. */
const retention = (topic: KeptTopic) => {
  const { leastMs } = RETENTIONS[topic];
  const least = `expected ${leastMs / DAY_MS}d at the least: less would lose records before their time`;
  return duration()
    .refine((ms) => ms >= leastMs, least)
    .optional();
};

export const topicsSettings = withConnections({
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  POSTHASTE_RETRY_SCHEDULE: durations().default(DEFAULT_RETRY_DELAYS_MS),
  /** The most partitions that a commit of the deliveries can tell apart (rule O4 of origin.ts). */
  POSTHASTE_PARTITIONS: wholeNumber(1, 256).default(6),
  /** By default as many as the cluster's brokers allow (`replicationOf`). */
  POSTHASTE_REPLICATION_FACTOR: wholeNumber(1, 10).optional(),
  POSTHASTE_MIN_INSYNC_REPLICAS: wholeNumber(1, 10).optional(),
  /** How long each topic keeps its records; without one the topic keeps the retention that it has. */
  POSTHASTE_EVENTS_KEEP: retention("events"),
  POSTHASTE_DELIVERIES_KEEP: retention("deliveries"),
  POSTHASTE_RETRIES_KEEP: retention("retries"),
  POSTHASTE_ATTEMPTS_KEEP: retention("attempts"),
  POSTHASTE_DEAD_LETTERS_KEEP: retention("deadLetters"),
  POSTHASTE_REJECTED_CALLS_KEEP: retention("rejectedCalls"),
  POSTHASTE_UNROUTED_KEEP: retention("unrouted"),
  POSTHASTE_AUDIT_KEEP: retention("audit"),
});
