/**
 * Who may do what in Kafka: the one place that says which topics and groups each process needs, and nothing above that.
 * The local command applies it where it runs secured; SECURITY.md shows it to whoever runs a cluster.
 */
import type { TopicNames } from "./topics.ts";

/** The processes that log in. The registry does not: it keeps its schemas in a database of its own. */
export const KAFKA_USERS = [
  "posthaste-ingest",
  "posthaste-router",
  "posthaste-delivery",
  "posthaste-control",
  "posthaste-topics",
] as const;
export type KafkaUser = (typeof KAFKA_USERS)[number];

/** Kafka's operations. Read, write and alter let describe, and alter-configs lets describe-configs. */
export type KafkaOperation = "describe" | "describe-configs" | "read" | "write" | "create" | "alter" | "alter-configs";

export interface Grant {
  readonly user: KafkaUser;
  readonly resource: "topic" | "group";
  readonly name: string;
  /** `prefixed`: every resource whose name begins so. */
  readonly pattern: "literal" | "prefixed";
  readonly operations: readonly KafkaOperation[];
}

/** Everything that is granted, to every host; the rest is denied. None of it is for the cluster as a whole. */
export function accessTable(names: TopicNames): readonly Grant[] {
  return [
    ...grantsOf("posthaste-ingest", [
      topic(names.sourceConfig, "read"),
      topic(names.events, "write"),
      topic(names.rejectedCalls, "write"),
      topic(names.sourceActivity, "write"),
    ]),
    ...grantsOf("posthaste-router", [
      group(names.routerGroup),
      topic(names.events, "read"),
      topic(names.destinationConfig, "read"),
      topic(names.suppressions, "read"),
      // It writes a higher topic incarnation when the events topic is not the one that the last was made for (D2).
      topic(names.meta, "read", "write"),
      topic(names.deliveries, "write"),
      topic(names.unrouted, "write"),
      topic(names.unreadable, "write"),
    ]),
    ...grantsOf("posthaste-delivery", [
      group(names.deliveryGroup),
      group(names.retryGroup),
      topic(names.destinationConfig, "read"),
      topic(names.suppressions, "read"),
      topic(names.deliveries, "read"),
      // By prefix, since topics of earlier schedules are read until they are empty (W4).
      topicsFrom(names.retryPrefix, "read", "write"),
      topic(names.deadLetters, "write"),
      topic(names.attempts, "write"),
      topic(names.destinationHealth, "write"),
      topic(names.unreadable, "write"),
    ]),
    ...grantsOf("posthaste-control", grantsOfControl(names)),
    ...grantsOf("posthaste-topics", [
      topicsFrom(names.topicPrefix, "create", "alter", "alter-configs"),
      topic(names.meta, "read", "write"),
    ]),
  ];
}

type Granted = Omit<Grant, "user">;

/** Control reads and writes nearly everything. */
function grantsOfControl(names: TopicNames): readonly Granted[] {
  return [
    topic(names.sourceConfig, "read", "write"),
    topic(names.destinationConfig, "read", "write"),
    // Deletions, and what the audiences' emitter makes.
    topic(names.deletions, "read", "write"),
    topic(names.suppressions, "read", "write"),
    topic(names.events, "read", "write"),
    topic(names.audienceConfig, "read", "write"),
    topic(names.audiences, "read", "write"),
    group(names.audienceEmitterGroup),
    // Who may ask it, and who asked for what.
    topic(names.tokens, "read", "write"),
    topic(names.audit, "read", "write"),
    // The read model, replays, and who carries them out.
    topic(names.replays, "read", "write"),
    group(names.replaysGroup),
    // What delivery says of destinations; what processes said that are gone it removes.
    topic(names.destinationHealth, "read", "write"),
    topic(names.attempts, "read"),
    topic(names.deadLetters, "read"),
    topic(names.unrouted, "read"),
    topic(names.rejectedCalls, "read"),
    topic(names.sourceActivity, "read"),
    topic(names.deliveries, "read", "write"),
    // What the router and delivery have not finished: how far they are.
    committed(names.routerGroup),
    committed(names.deliveryGroup),
    committed(names.retryGroup),
    // What no service could read, and where it goes when it is produced again.
    topic(names.unreadable, "read", "write"),
    topicsFrom(names.retryPrefix, "read", "write"),
    topic(names.deadLetters, "write"),
    topic(names.attempts, "write"),
    topic(names.unrouted, "write"),
    topic(names.rejectedCalls, "write"),
    topic(names.sourceActivity, "write"),
    // The doctor compares every topic with the catalogue.
    topicsFrom(names.topicPrefix, "describe-configs"),
    topic(names.meta, "describe"),
  ];
}

function grantsOf(user: KafkaUser, granted: readonly Granted[]): readonly Grant[] {
  return granted.map((each) => ({ user, ...each }));
}

function topic(name: string, ...operations: readonly KafkaOperation[]): Granted {
  return { resource: "topic", name, pattern: "literal", operations };
}

function topicsFrom(prefix: string, ...operations: readonly KafkaOperation[]): Granted {
  return { resource: "topic", name: prefix, pattern: "prefixed", operations };
}

/** To see what a group has committed. */
function committed(name: string): Granted {
  return { resource: "group", name, pattern: "literal", operations: ["describe"] };
}

/** To be a member, which is also to commit. */
function group(name: string): Granted {
  return { resource: "group", name, pattern: "literal", operations: ["read"] };
}
