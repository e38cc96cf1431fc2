/**
 * Makes the cluster's topics match the catalogue.
 *
 * TA1  It never deletes or shrinks anything; it reports the differences that it cannot mend.
 * TA2  Settings that the catalogue does not name keep the value that somebody gave them (topic-settings.ts).
 * TA3  When `applyTopics` resolves, the events topic has a topic generation of its own (topic-generation.ts).
 *      `applyTopics` raises the number before it makes a new events topic. A run that dies in between leaves a topic
 *      generation without a topic, never a new topic with an old topic's topic generation.
 */
import { delayMsFromRetryTopic, type TopicNames, type TopicSpec } from "@posthaste/contracts/topics";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { ITopicConfig } from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs } from "../connection/deadline.ts";
import { isTopicExisting } from "../connection/kafka-errors.ts";
import { whenReachable } from "../connection/when-reachable.ts";
import { findEventsLog, raiseEventsLog, settleEventsLog, TOPICS_PROGRAM } from "./topic-generation.ts";
import { compareTopics, type ExistingTopic, type Replication, settingsOf, type TopicDifference } from "./topic-plan.ts";
import { alterSettings, describeSettings } from "./topic-settings.ts";

/** In ms: making topics takes seconds on a loaded machine. */
const CREATE_TIMEOUT_MS = 10_000;
const KNOWN_TRIES = 6;
/** The advice in an error about topics that nobody has made. */
const HOW_TO_MAKE_THEM = `to make what lacks, run ${TOPICS_PROGRAM}`;

/** The changes that `applyTopics` would make; empty when the cluster matches the catalogue. */
export async function planTopics(
  connection: KafkaConnection,
  catalogue: readonly TopicSpec[],
  replication: Replication,
): Promise<readonly TopicDifference[]> {
  const existing = await readTopics(
    connection,
    catalogue.map(({ name }) => name),
  );
  return compareTopics(catalogue, existing, replication);
}

export interface ApplyOptions extends Replication {
  readonly names: TopicNames;
  /** Called once with the plan, before anything is changed. */
  readonly onPlan?: (differences: readonly TopicDifference[]) => void;
}

/** Makes the cluster match the catalogue and returns the differences that it found. */
export async function applyTopics(
  connection: KafkaConnection,
  catalogue: readonly TopicSpec[],
  { names, onPlan, ...replication }: ApplyOptions,
): Promise<readonly TopicDifference[]> {
  const plan = await planTopics(connection, catalogue, replication);
  onPlan?.(plan);
  const isOfEvents = ({ topic }: TopicDifference) => topic === names.events;
  const rest = plan.filter((difference) => !isOfEvents(difference));
  await createTopics(connection, rest, replication);
  const eventsAreNew = plan.some((difference) => difference.kind === "create" && isOfEvents(difference));
  // A new events topic starts at offset 0 again, so its deliveries must not be taken for repeats of the old one's.
  if (eventsAreNew) await whenKnown(() => raiseEventsLog(connection, names, null));
  await createTopics(connection, plan.filter(isOfEvents), replication);
  await growTopics(connection, plan);
  await connection.withAdmin((admin) => alterSettings(admin, settingChanges(plan)));
  if (catalogue.some(({ name }) => name === names.events)) await whenKnown(() => bindEventsLog(connection, names));
  return plan;
}

/**
 * Gives the events topic a topic generation of its own, also where an earlier run, or the loss of the meta topic, left
 * none.
 */
async function bindEventsLog(connection: KafkaConnection, names: TopicNames): Promise<void> {
  if ((await findEventsLog(connection, names)) === null) await raiseEventsLog(connection, names, null);
  await settleEventsLog(connection, names);
}

/** Repeats `ask` while a broker does not know a topic that was made a moment ago. */
async function whenKnown(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!isPosthasteError(error, "topic_missing") || tries === KNOWN_TRIES) throw error;
    }
    await pause(retryPauseMs(tries));
  }
}

/** One line that describes a difference to a person. */
export function formatDifference(difference: TopicDifference): string {
  const { topic } = difference;
  switch (difference.kind) {
    case "create": {
      const { partitions, cleanup } = difference.spec;
      return `+ ${topic}: ${partitions} partition${partitions === 1 ? "" : "s"}, ${cleanup}`;
    }
    case "grow":
      return `~ ${topic}: partitions ${difference.from} -> ${difference.to} (keys move: their order starts anew)`;
    case "configure":
      return `~ ${topic}: ${difference.setting} ${difference.from ?? "(unset)"} -> ${difference.to}`;
    case "keep":
      return `= ${topic}: keeps its retention of ${inWords(difference.retentionMs)}, ${inWords(difference.wanted)} by default`;
    case "report":
      return `! ${topic}: ${difference.detail}`;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

function inWords(retentionMs: number): string {
  if (retentionMs === -1) return "no end";
  const days = retentionMs / DAY_MS;
  return days === 1 ? "one day" : `${Number(days.toFixed(1))} days`;
}

/**
 * Resolves when all the topics exist. Waits for brokers. Rejects with a `topic_missing` that names all missing topics.
 */
export async function verifyTopics(connection: KafkaConnection, topics: readonly string[]): Promise<void> {
  const existing = new Set(await listTopics(connection));
  const missing = topics.filter((topic) => !existing.has(topic));
  if (missing.length === 0) return;
  throw new PosthasteError("topic_missing", `missing topics: ${missing.join(", ")}; ${HOW_TO_MAKE_THEM}`);
}

/**
 * All retry topics that exist, whatever the retry schedule says now (W4), the shortest delay first. Waits for brokers.
 */
export async function existingRetryTopics(connection: KafkaConnection, names: TopicNames): Promise<readonly string[]> {
  const topics = await listTopics(connection);
  const delayOf = (topic: string) => delayMsFromRetryTopic(names, topic) ?? 0;
  return topics.filter((topic) => delayMsFromRetryTopic(names, topic) !== null).sort((a, b) => delayOf(a) - delayOf(b));
}

function listTopics(connection: KafkaConnection): Promise<readonly string[]> {
  return whenReachable(connection, () => connection.withAdmin((admin) => admin.listTopics()));
}

async function createTopics(
  connection: KafkaConnection,
  plan: readonly TopicDifference[],
  replication: Replication,
): Promise<void> {
  const topics = plan.flatMap((difference): ITopicConfig[] => {
    if (difference.kind !== "create") return [];
    const { spec } = difference;
    return [
      {
        topic: spec.name,
        numPartitions: spec.partitions,
        replicationFactor: replication.replicationFactor,
        configEntries: [...settingsOf(spec, replication)].map(([name, value]) => ({ name, value })),
      },
    ];
  });
  if (topics.length === 0) return;
  await connection.withAdmin(async (admin) => {
    try {
      await admin.createTopics({ topics, waitForLeaders: true, timeout: CREATE_TIMEOUT_MS });
    } catch (error) {
      // Another process may be applying the same catalogue, or an earlier try of this one may have succeeded unheard.
      if (!isTopicExisting(error)) throw error;
    }
  });
}

async function growTopics(connection: KafkaConnection, plan: readonly TopicDifference[]): Promise<void> {
  const topicPartitions = plan.flatMap((difference) =>
    difference.kind === "grow" ? [{ topic: difference.topic, count: difference.to }] : [],
  );
  if (topicPartitions.length === 0) return;
  await connection.withAdmin((admin) => admin.createPartitions({ topicPartitions }));
}

function settingChanges(plan: readonly TopicDifference[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const changes = new Map<string, Map<string, string>>();
  for (const difference of plan) {
    if (difference.kind !== "configure") continue;
    const ofTopic = changes.get(difference.topic) ?? new Map<string, string>();
    changes.set(difference.topic, ofTopic.set(difference.setting, difference.to));
  }
  return changes;
}

/** Where the copies of one partition are, by the ids of brokers. */
export interface PartitionCopies {
  /** The leader's id; negative where the partition has no leader. */
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
}

export interface DescribedTopic extends ExistingTopic {
  readonly copies: readonly PartitionCopies[];
}

/** The wanted topics that exist, with their settings. Rejects when no broker answers. */
export async function readTopics(
  connection: KafkaConnection,
  wanted: readonly string[],
): Promise<readonly DescribedTopic[]> {
  return await connection.withAdmin(async (admin) => {
    const existing = new Set(await admin.listTopics());
    const topics = wanted.filter((topic) => existing.has(topic));
    if (topics.length === 0) return [];
    const metadata = await admin.fetchTopicMetadata({ topics });
    const settings = await describeSettings(admin, topics);
    return metadata.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.length,
      replicationFactor: partitions[0]?.replicas.length ?? 0,
      settings: settings.get(name)?.all ?? new Map(),
      copies: partitions.map(({ leader, replicas, isr }) => ({ leader, replicas, inSync: isr })),
    }));
  });
}
