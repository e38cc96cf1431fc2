/**
 * Checks that the topics match the catalogue. The wanted numbers of partitions and copies come from control's
 * configuration where it sets them. Otherwise they are the numbers that most of the topics have. So the check names a
 * topic that differs from the others.
 */
import { type TopicNames, type TopicSpec, topicCatalogue } from "@posthaste/contracts/topics";
import type { DescribedTopic } from "@posthaste/kafka/topics/topic-admin";
import { TOPICS_PROGRAM } from "@posthaste/kafka/topics/topic-generation";
import { compareTopics, type TopicDifference } from "@posthaste/kafka/topics/topic-plan";
import type { Finding } from "./check.ts";

export interface TopicFacts {
  readonly names: TopicNames;
  /** The delays of every retry schedule that a delivery process runs with. */
  readonly retryDelaysMs: readonly number[];
  readonly topics: readonly DescribedTopic[];
  readonly reported: ConfiguredTopics;
}

/** The settings of the program that makes the topics, where control has them too. */
export interface ConfiguredTopics {
  readonly partitions?: number | undefined;
  readonly replicationFactor?: number | undefined;
  readonly minInsyncReplicas?: number | undefined;
}

/** The topic settings whose wrong value would lose records, or deliver them at another time. */
const GRAVE_SETTINGS: ReadonlySet<string> = new Set([
  "cleanup.policy",
  "retention.ms",
  "retention.bytes",
  "message.timestamp.type",
  "min.compaction.lag.ms",
]);
const MAKE_TOPICS = `Run ${TOPICS_PROGRAM} with the settings of this installation: it makes and changes what differs.`;

/** The wanted topics as far as control can tell them, since it does not know all settings of the program. */
export function wantedTopics({ names, retryDelaysMs, topics, reported }: TopicFacts): readonly TopicSpec[] {
  const catalogue = (partitions: number) => topicCatalogue({ names, partitions, retryDelaysMs });
  if (reported.partitions !== undefined) return catalogue(reported.partitions);
  const undivided = undividedTopics(catalogue(2));
  // The topics whose number of partitions the setting decides.
  const divided = topics.filter(({ name }) => !undivided.has(name));
  return catalogue(mostCommon(divided.map(({ partitions }) => partitions)));
}

export function topicFindings(facts: TopicFacts): readonly Finding[] {
  const { topics, reported } = facts;
  const replication = {
    replicationFactor:
      reported.replicationFactor ?? mostCommon(topics.map(({ replicationFactor }) => replicationFactor)),
    minInsyncReplicas: reported.minInsyncReplicas ?? mostCommon(topics.map(minInsyncReplicas)),
  };
  const undivided = undividedTopics(topicCatalogue({ ...facts, partitions: 2 }));
  return compareTopics(wantedTopics(facts), topics, replication).flatMap((difference) =>
    difference.kind === "report" && difference.of === "partitions" && undivided.has(difference.topic)
      ? dividedFinding(difference)
      : findingOf(difference, reported),
  );
}

/**
 * The names of the topics that have one partition even in a catalogue for several, since their records have one order.
 */
function undividedTopics(catalogue: readonly TopicSpec[]): ReadonlySet<string> {
  return new Set(catalogue.flatMap(({ name, partitions }) => (partitions === 1 ? [name] : [])));
}

function dividedFinding({ topic, detail }: { readonly topic: string; readonly detail: string }): Finding {
  return {
    state: "wrong",
    what: `${topic} ${detail.replace(/;.*/, "")}: nobody reads what stands in another than its first.`,
    remedy:
      "Kafka cannot take partitions away: stop the services, copy what the topic holds, delete it, run " +
      `${TOPICS_PROGRAM}, and send it what you copied.`,
  };
}

/** The most frequent value, the largest of several as frequent; 1 where there are no values. */
function mostCommon(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [[common] = [1]] = [...counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || b - a);
  return common;
}

export function minInsyncReplicas({ settings }: DescribedTopic): number {
  return Number(settings.get("min.insync.replicas") ?? 1);
}

function findingOf(difference: TopicDifference, reported: ConfiguredTopics): Finding | readonly [] {
  const { topic } = difference;
  switch (difference.kind) {
    case "create":
      return { state: "wrong", what: `${topic} is missing.`, remedy: MAKE_TOPICS };
    case "grow": {
      const wanted = reported.partitions === undefined ? "most others have" : "POSTHASTE_PARTITIONS says";
      return {
        state: "warning",
        what: `${topic} has ${difference.from} partitions where ${wanted} ${difference.to}.`,
        remedy: MAKE_TOPICS,
      };
    }
    case "configure":
      return {
        state: GRAVE_SETTINGS.has(difference.setting) ? "wrong" : "warning",
        what: `${topic}: ${difference.setting} is ${difference.from ?? "not known"}, and ${difference.to} is wanted.`,
        remedy: MAKE_TOPICS,
      };
    // A retention of at least the topic's least loses nothing.
    case "keep":
      return [];
    case "report": {
      const isReported = difference.of === "partitions" ? reported.partitions : reported.replicationFactor;
      return {
        state: "warning",
        what: `${topic} ${difference.detail.replace(/;.*/, "")}, as ${isReported === undefined ? "most others have" : "control is told"}.`,
        remedy: REPORT_REMEDIES[difference.of],
      };
    }
  }
}

const REPORT_REMEDIES = {
  partitions: "Nobody can take partitions away: give the others as many, or leave it as it is.",
  replicas: "Kafka's own tools can reassign its partitions, and no program of Posthaste does it.",
} as const;
