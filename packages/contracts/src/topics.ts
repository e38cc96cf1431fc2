/** The catalogue of topics: the one place that says what each is called, how it is kept and what stands in it. */

/**
 * The prefix of every topic, group and subject; a setting (`POSTHASTE_TOPIC_PREFIX`), so that installations can share a
 * cluster.
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

/** Names of topics and consumer groups under one prefix. */
export interface TopicNames {
  /** What every topic's name begins with. */
  readonly topicPrefix: string;
  readonly sourceConfig: string;
  readonly destinationConfig: string;
  /**
   * One record a key: facts that the whole installation must agree on, such as the events topic's topic incarnation.
   */
  readonly meta: string;
  readonly events: string;
  readonly deliveries: string;
  readonly deadLetters: string;
  readonly attempts: string;
  readonly rejectedCalls: string;
  /** What ingest counted of each source, and some of the requests that it refused. */
  readonly sourceActivity: string;
  readonly unrouted: string;
  /** Records of any other topic that no schema reads, byte for byte. */
  readonly unreadable: string;
  /** Audiences and computed traits themselves; a table. */
  readonly audienceConfig: string;
  /** What each user's traits became by them: the newest record of a user is the membership. */
  readonly audiences: string;
  /** Users whose events are delivered no more, one record each; null for one whose suppression ended. */
  readonly suppressions: string;
  /** Deletion requests and how far each is. */
  readonly deletions: string;
  /** Plans over dead letters (replays and purges), and how far each is carried out; a table. */
  readonly replays: string;
  /** Tokens, sign-in links and sessions of the control API; a table. */
  readonly tokens: string;
  /** Who changed what by the control API. */
  readonly audit: string;
  /** What each delivery process says of its destinations and of itself; a table. */
  readonly destinationHealth: string;
  /** What every retry topic's name begins with. */
  readonly retryPrefix: string;
  readonly routerGroup: string;
  readonly deliveryGroup: string;
  readonly retryGroup: string;
  /** Makes identifies of the records of `audiences`. */
  readonly audienceEmitterGroup: string;
  /** Whoever has the partition of `replays` by it carries replays out. */
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
 * Key in the meta topic of the events topic's topic incarnation (rule D2); its value is a decimal number as UTF-8 text.
 */
export const EVENTS_INCARNATION_KEY = "events-incarnation";
/**
 * Key in the meta topic of the Kafka id of the events topic that the topic incarnation is for: the topic incarnation, a
 * space, the topic's id.
 */
export const EVENTS_TOPIC_ID_KEY = "events-topic-id";

/** The registry's subject for a schema: that of the topic it stands in, by the registry's own naming rule. */
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
  /** Null for a compacted topic. */
  readonly retentionMs: number | null;
  /** LogAppendTime where the broker's time of writing decides (retry topics), CreateTime elsewhere. */
  readonly timestamps: "CreateTime" | "LogAppendTime";
  readonly minCompactionLagMs?: number;
  /** What the record key is, in words, for the catalogue's printout. */
  readonly key: string;
  /** Null where the value is plain text. */
  readonly schema: SchemaName | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;

/** `retry-10s` and so on: the topic that holds deliveries for one fixed delay, written in its largest whole unit. */
export function retryTopicName(names: TopicNames, delayMs: number): string {
  return `${names.retryPrefix}${formatDelay(delayMs)}`;
}

/** The delay in ms that a retry topic's name states, or null when the name is no retry topic's (W4). */
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
  /** Partitions of every topic that is not a table. */
  readonly partitions: number;
  /** The retry schedule, delays in ms; repeated delays share a topic. */
  readonly retryDelaysMs: readonly number[];
  /** How long the audit is kept; default `AUDIT_KEEP_MS`. */
  readonly auditKeepMs?: number;
}

/** 14 months: a year, and the time to look at it. */
export const AUDIT_KEEP_MS = 425 * DAY_MS;

/** Every topic that the system needs, under the given settings. */
export function topicCatalogue(options: CatalogueOptions): readonly TopicSpec[] {
  const { names, partitions, retryDelaysMs, auditKeepMs = AUDIT_KEEP_MS } = options;
  // Tables have one partition: their offsets are then one order, and a delivery can name the config it was routed by.
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
  const retryTopics = [...new Set(retryDelaysMs.map((delayMs) => retryTopicName(names, delayMs)))].map(
    (name): TopicSpec => ({ ...log(name, "delivery", "destinationId:user"), timestamps: "LogAppendTime" }),
  );
  return [
    // Whoever asks why an event took the way that it took needs the configuration of that moment.
    { ...table(names.sourceConfig, "source", "sourceId"), minCompactionLagMs: WEEK_MS },
    { ...table(names.destinationConfig, "destination", "destinationId"), minCompactionLagMs: WEEK_MS },
    table(names.meta, null, "name of the fact"),
    table(names.audienceConfig, "audience", "audienceId"),
    // No table: nobody holds it in memory. What is compacted before the emitter came to it was written over since.
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
    // One order of all changes.
    { ...log(names.audit, "audit", "what was changed", auditKeepMs), partitions: 1 },
    log(names.events, "event", "sourceId:userId or anonymousId"),
    log(names.deliveries, "delivery", "destinationId:user"),
    ...retryTopics,
    log(names.deadLetters, "dead-letter", "destinationId:user", 2 * WEEK_MS),
    log(names.attempts, "attempt-batch", "none"),
    log(names.rejectedCalls, "rejected-calls", "sourceId"),
    log(names.sourceActivity, "source-activity", "sourceId"),
    log(names.unrouted, "unrouted-events", "sourceId"),
    // Anybody's bytes: no schema.
    log(names.unreadable, null, "the record's own", 2 * WEEK_MS),
  ];
}
