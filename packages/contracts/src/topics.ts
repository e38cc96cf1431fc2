/** The catalogue of topics: the one place that defines each topic's name, its retention, and its records. */

/**
 * The prefix of every topic, group and subject. The setting `POSTHASTE_TOPIC_PREFIX` replaces it, so that several
 * installations can share a cluster.
 */
export const DEFAULT_TOPIC_PREFIX = "posthaste";

/** The name of a file under `schemas/`, without `.avsc`. */
export const SCHEMA_NAMES = [
  "source",
  "destination",
  "event",
  "delivery",
  "dead-letter",
  "attempt-batch",
  "rejected-calls",
  "source-activity",
  "unrouted-events",
  "audience",
  "membership",
  "suppression",
  "deletion",
  "replay",
  "token",
  "audit",
  "destination-health",
] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** The names of topics and consumer groups under one prefix. */
export interface TopicNames {
  /** The beginning of every topic's name. */
  readonly topicPrefix: string;
  readonly sourceConfig: string;
  readonly destinationConfig: string;
  /**
   * Facts on which the whole installation must agree, such as the topic generation of the events topic. Each key has
   * one fact.
   */
  readonly meta: string;
  readonly events: string;
  readonly deliveries: string;
  readonly deadLetters: string;
  readonly attempts: string;
  readonly rejectedCalls: string;
  /** Ingest's counts for each source, and samples of the requests that it refused. */
  readonly sourceActivity: string;
  readonly unrouted: string;
  /** Copies of records of any other topic that no schema reads. */
  readonly unreadable: string;
  /** The settings of audiences and computed traits; a table. */
  readonly audienceConfig: string;
  /** The trait that an audience or computed trait gives a user. A user's newest record is the membership. */
  readonly audiences: string;
  /** Users whose events are no longer delivered, a record each; a tombstone ends a user's suppression. */
  readonly suppressions: string;
  /** Deletion requests and their progress. */
  readonly deletions: string;
  /** Plans over dead letters (replays and purges) and their progress; a table. */
  readonly replays: string;
  /** Tokens, sign-in links and sessions of the control API; a table. */
  readonly tokens: string;
  /** Each change through the control API, with its author. */
  readonly audit: string;
  /** The reports of each delivery process on its destinations and on itself; a table. */
  readonly destinationHealth: string;
  /** The beginning of every retry topic's name. */
  readonly retryPrefix: string;
  readonly routerGroup: string;
  readonly deliveryGroup: string;
  readonly retryGroup: string;
  /** The group of the emitter, which makes an identify of each record of `audiences`. */
  readonly audienceEmitterGroup: string;
  /**
   * The group that chooses the runner: the member that is assigned the partition of `replays` carries the plans out.
   */
  readonly replaysGroup: string;
}

export function createTopicNames(prefix: string = DEFAULT_TOPIC_PREFIX): TopicNames {
  return {
    topicPrefix: `${prefix}.`,
    sourceConfig: `${prefix}.source-config`,
    destinationConfig: `${prefix}.destination-config`,
    meta: `${prefix}.meta`,
    events: `${prefix}.events`,
    deliveries: `${prefix}.deliveries`,
    deadLetters: `${prefix}.dead-letters`,
    attempts: `${prefix}.attempts`,
    rejectedCalls: `${prefix}.rejected-calls`,
    sourceActivity: `${prefix}.source-activity`,
    unrouted: `${prefix}.unrouted`,
    unreadable: `${prefix}.unreadable`,
    audienceConfig: `${prefix}.audience-config`,
    audiences: `${prefix}.audiences`,
    suppressions: `${prefix}.suppressions`,
    deletions: `${prefix}.deletions`,
    replays: `${prefix}.replays`,
    tokens: `${prefix}.tokens`,
    audit: `${prefix}.audit`,
    destinationHealth: `${prefix}.destination-health`,
    retryPrefix: `${prefix}.deliveries.retry-`,
    routerGroup: `${prefix}.router`,
    deliveryGroup: `${prefix}.delivery`,
    retryGroup: `${prefix}.delivery.retry`,
    audienceEmitterGroup: `${prefix}.audience-emitter`,
    replaysGroup: `${prefix}.control.replays`,
  };
}

/**
 * The key, in the meta topic, of the events topic's topic generation (rule D2). The value is a decimal number as UTF-8
 * text.
 */
export const EVENTS_TOPIC_GENERATION_KEY = "events-incarnation";
/**
 * The key, in the meta topic, of the Kafka id that belongs to the topic generation. The value is the topic
 * topic generation, a space, and the id of the events topic.
 */
export const EVENTS_TOPIC_ID_KEY = "events-topic-id";

/**
 * The registry's subject for a schema, by the registry's naming rule: the subject of the topic whose records have the
 * schema.
 */
export function subjectOf(names: TopicNames, schema: SchemaName): string {
  const topics: Record<SchemaName, string> = {
    source: names.sourceConfig,
    destination: names.destinationConfig,
    event: names.events,
    delivery: names.deliveries,
    "dead-letter": names.deadLetters,
    "attempt-batch": names.attempts,
    "rejected-calls": names.rejectedCalls,
    "source-activity": names.sourceActivity,
    "unrouted-events": names.unrouted,
    audience: names.audienceConfig,
    membership: names.audiences,
    suppression: names.suppressions,
    deletion: names.deletions,
    replay: names.replays,
    token: names.tokens,
    audit: names.audit,
    "destination-health": names.destinationHealth,
  };
  return `${topics[schema]}-value`;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /** `delete` with a retention, or `compact`. */
  readonly cleanup: "delete" | "compact";
  /** How long records are kept, in ms; null for a compacted topic. */
  readonly retentionMs: number | null;
  /**
   * The shortest retention, in ms, that somebody may give the topic by hand and that stays then. Absent where
   * `retentionMs` holds whatever the topic has.
   */
  readonly leastRetentionMs?: number;
  /** LogAppendTime in retry topics, whose delay counts from the broker's time of writing; CreateTime elsewhere. */
  readonly timestamps: "CreateTime" | "LogAppendTime";
  readonly minCompactionLagMs?: number;
  /** The content of the record's key, in words for the printed catalogue. */
  readonly key: string;
  /** Null where the value has no schema of this project. */
  readonly schema: SchemaName | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;

/**
 * The topic for deliveries that wait for one fixed delay. Its name ends in the delay, in the largest unit in which it
 * is whole: `retry-10s`.
 */
export function retryTopicName(names: TopicNames, delayMs: number): string {
  return `${names.retryPrefix}${formatDelay(delayMs)}`;
}

/** The delay in ms that a retry topic's name states; null for any other name (W4). */
export function delayMsFromRetryTopic(names: TopicNames, topic: string): number | null {
  if (!topic.startsWith(names.retryPrefix)) return null;
  const match = /^(\d+)(ms|s|m|h)$/.exec(topic.slice(names.retryPrefix.length));
  if (!match) return null;
  const unitMs = UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number(match[1]) * unitMs;
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

function formatDelay(delayMs: number): string {
  for (const unit of ["h", "m", "s"] as const) {
    if (delayMs >= UNIT_MS[unit] && delayMs % UNIT_MS[unit] === 0) return `${delayMs / UNIT_MS[unit]}${unit}`;
  }
  return `${delayMs}ms`;
}

export interface CatalogueOptions {
  readonly names: TopicNames;
  /** Partitions of every topic, except the tables and the audit, which have one. */
  readonly partitions: number;
  /** The delays of the retry schedule, in ms. Equal delays share a topic. */
  readonly retryDelaysMs: readonly number[];
  /**
   * Retentions that a setting gives, in ms; such a topic gets exactly that one. A topic without a setting keeps the
   * retention that it has, from its least value on.
   */
  readonly keepMs?: { readonly [Topic in KeptTopic]?: number | undefined };
}

/**
 * The topics with a retention that a setting decides: its usual value and its least one, both in ms. Events, deliveries
 * and retries hold records that wait, and RecordNearRetention fires at half of seven days. A control that reads anew
 * knows by the attempts of seven days which dead letters a replay delivered.
 */
export const RETENTIONS = {
  events: { usualMs: WEEK_MS, leastMs: WEEK_MS },
  deliveries: { usualMs: WEEK_MS, leastMs: WEEK_MS },
  retries: { usualMs: WEEK_MS, leastMs: WEEK_MS },
  attempts: { usualMs: WEEK_MS, leastMs: WEEK_MS },
  deadLetters: { usualMs: 2 * WEEK_MS, leastMs: WEEK_MS },
  rejectedCalls: { usualMs: WEEK_MS, leastMs: DAY_MS },
  unrouted: { usualMs: WEEK_MS, leastMs: DAY_MS },
  // 14 months: a year, and time to look back at it.
  audit: { usualMs: 425 * DAY_MS, leastMs: DAY_MS },
} as const;
export type KeptTopic = keyof typeof RETENTIONS;

/** Every topic that the system needs under the given settings. */
export function topicCatalogue(options: CatalogueOptions): readonly TopicSpec[] {
  const { names, partitions, retryDelaysMs, keepMs = {} } = options;
  // Tables have one partition: their offsets are then in one order, and a delivery can name the config offset by which
  // it was routed.
  const table = (name: string, schema: SchemaName | null, key: string): TopicSpec => ({
    name,
    partitions: 1,
    cleanup: "compact",
    retentionMs: null,
    timestamps: "CreateTime",
    key,
    schema,
  });
  const log = (name: string, schema: SchemaName | null, key: string, retentionMs = WEEK_MS): TopicSpec => ({
    name,
    partitions,
    cleanup: "delete",
    retentionMs,
    timestamps: "CreateTime",
    key,
    schema,
  });
  const kept = (kind: KeptTopic, schema: SchemaName, key: string, name: string): TopicSpec => {
    const { usualMs, leastMs } = RETENTIONS[kind];
    const given = keepMs[kind];
    return { ...log(name, schema, key, given ?? usualMs), ...(given === undefined && { leastRetentionMs: leastMs }) };
  };
  const retryTopics = [...new Set(retryDelaysMs.map((delayMs) => retryTopicName(names, delayMs)))].map(
    (name): TopicSpec => ({
      ...kept("retries", "delivery", "destinationId:user", name),
      timestamps: "LogAppendTime",
    }),
  );
  return [
    // To explain why an event was routed as it was, one needs the configuration of that time, so it stays for a week.
    { ...table(names.sourceConfig, "source", "sourceId"), minCompactionLagMs: WEEK_MS },
    { ...table(names.destinationConfig, "destination", "destinationId"), minCompactionLagMs: WEEK_MS },
    table(names.meta, null, "name of the fact"),
    table(names.audienceConfig, "audience", "audienceId"),
    // This topic is no table: nobody holds it in memory. When a record is compacted before the emitter read it, a newer
    // record of its user has replaced it.
    {
      ...table(names.audiences, "membership", "audienceId:userId"),
      partitions,
      minCompactionLagMs: DAY_MS,
    },
    table(names.suppressions, "suppression", "sourceId:userId"),
    table(names.deletions, "deletion", "deletionId"),
    table(names.replays, "replay", "planId, planId:progress or counting:process"),
    table(names.tokens, "token", "tokenId, linkId or sessionId"),
    table(names.destinationHealth, "destination-health", "destinationId:instance or process:instance"),
    // One partition, so that all changes stand in one order.
    { ...kept("audit", "audit", "what was changed", names.audit), partitions: 1 },
    kept("events", "event", "sourceId:userId or anonymousId", names.events),
    kept("deliveries", "delivery", "destinationId:user", names.deliveries),
    ...retryTopics,
    kept("deadLetters", "dead-letter", "destinationId:user", names.deadLetters),
    kept("attempts", "attempt-batch", "none", names.attempts),
    kept("rejectedCalls", "rejected-calls", "sourceId", names.rejectedCalls),
    log(names.sourceActivity, "source-activity", "sourceId"),
    kept("unrouted", "unrouted-events", "sourceId", names.unrouted),
    // The values are other topics' bytes, so there is no schema.
    log(names.unreadable, null, "the record's own", 2 * WEEK_MS),
  ];
}
