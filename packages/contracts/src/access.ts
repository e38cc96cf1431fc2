/**
 * Grants in Kafka: the one place that lists the topics and groups that each process needs, and nothing beyond that. The
 * local command applies it when it runs secured, and SECURITY.md shows it to operators of a cluster.
 */
import type { TopicNames } from "./topics.ts";

/** The processes of this project that log in at the brokers. A registry whose schemas are in Kafka is none of them. */
export const KAFKA_USERS = [
  "posthaste-ingest",
  "posthaste-router",
  "posthaste-delivery",
  "posthaste-control",
  "posthaste-topics",
] as const;
export type KafkaUser = (typeof KAFKA_USERS)[number];

/** Kafka's operations. `read`, `write` and `alter` include `describe`; `alter-configs` includes `describe-configs`. */
export type KafkaOperation = "describe" | "describe-configs" | "read" | "write" | "create" | "alter" | "alter-configs";

export interface Grant {
  readonly user: KafkaUser;
  readonly resource: "topic" | "group";
  readonly name: string;
  /** `prefixed` grants every resource whose name begins with `name`. */
  readonly pattern: "literal" | "prefixed";
  readonly operations: readonly KafkaOperation[];
}

/** All grants, for any host. Everything else is denied. No grant is for the cluster as a whole. */
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
      // The router writes a higher topic generation when the events topic was recreated since the last one (D2).
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
      // Records that were lost, which an operator said to go on without.
      topic(names.meta, "read"),
      // By prefix, since delivery reads topics of earlier schedules until they are empty (W4).
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

/** Control reads and writes nearly every topic. */
function grantsOfControl(names: TopicNames): readonly Granted[] {
  return [
    topic(names.sourceConfig, "read", "write"),
    topic(names.destinationConfig, "read", "write"),
    // Control writes deletions, and the emitter writes the identifies of audiences.
    topic(names.deletions, "read", "write"),
    topic(names.suppressions, "read", "write"),
    topic(names.events, "read", "write"),
    topic(names.audienceConfig, "read", "write"),
    topic(names.audiences, "read", "write"),
    group(names.audienceEmitterGroup),
    // Tokens, and the audit.
    topic(names.tokens, "read", "write"),
    topic(names.audit, "read", "write"),
    // Replays: their plans, and the group whose member carries them out.
    topic(names.replays, "read", "write"),
    group(names.replaysGroup),
    // Control reads the reports of delivery processes on destinations, and removes the records of processes that are
    // gone.
    topic(names.destinationHealth, "read", "write"),
    topic(names.attempts, "read"),
    topic(names.deadLetters, "read"),
    topic(names.unrouted, "read"),
    topic(names.rejectedCalls, "read"),
    topic(names.sourceActivity, "read"),
    topic(names.deliveries, "read", "write"),
    // Control reads the groups' committed offsets, to count the records that the router and delivery have not finished.
    committed(names.routerGroup),
    committed(names.deliveryGroup),
    committed(names.retryGroup),
    // Control reads unreadable records, and produces them again to the topics that they came from.
    topic(names.unreadable, "read", "write"),
    topicsFrom(names.retryPrefix, "read", "write"),
    topic(names.deadLetters, "write"),
    topic(names.attempts, "write"),
    topic(names.unrouted, "write"),
    topic(names.rejectedCalls, "write"),
    topic(names.sourceActivity, "write"),
    // The doctor compares the settings of every topic with the catalogue.
    topicsFrom(names.topicPrefix, "describe-configs"),
    // The losses that operators accept.
    topic(names.meta, "read", "write"),
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

/** The grants for reading a group's committed offsets. */
function committed(name: string): Granted {
  return { resource: "group", name, pattern: "literal", operations: ["describe"] };
}

/** The grants of a group's member, which include committing. */
function group(name: string): Granted {
  return { resource: "group", name, pattern: "literal", operations: ["read"] };
}
