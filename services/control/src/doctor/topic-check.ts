/**
 * Whether the topics are those of the catalogue. How many partitions and copies are wanted says the configuration of
 * control where it is told; else what most of the topics have, so that a topic that differs from the others is named.
 */
import { AUDIT_KEEP_MS, type TopicNames, type TopicSpec, topicCatalogue } from "@posthaste/contracts/topics";
import { TOPICS_PROGRAM } from "@posthaste/kafka/topics/incarnation";
import type { DescribedTopic } from "@posthaste/kafka/topics/topic-admin";
import { compareTopics, type TopicDifference } from "@posthaste/kafka/topics/topic-plan";
import type { Finding } from "./check.ts";

export interface TopicFacts {
  readonly names: TopicNames;
  /** Of every schedule that runs. */
  readonly retryDelaysMs: readonly number[];
  readonly topics: readonly DescribedTopic[];
  readonly told: ToldTopics;
}

/** What the program that makes the topics is told, where control is told it too. */
export interface ToldTopics {
  readonly partitions?: number | undefined;
  readonly replicationFactor?: number | undefined;
  readonly minInsyncReplicas?: number | undefined;
}

/** Settings by which records would be lost, or come at another time. */
const GRAVE_SETTINGS: ReadonlySet<string> = new Set([
  "cleanup.policy",
  "retention.ms",
  "retention.bytes",
  "message.timestamp.type",
  "min.compaction.lag.ms",
]);
const MAKE_TOPICS = `Run ${TOPICS_PROGRAM} with the settings of this installation: it makes and changes what differs.`;

/** The wanted topics as control, which does not know all of the program's settings, can tell them. */
export function wantedTopics({ names, retryDelaysMs, topics, told }: TopicFacts): readonly TopicSpec[] {
  const found = (name: string) => topics.find((topic) => topic.name === name);
  const auditKeepMs = Number(found(names.audit)?.settings.get("retention.ms") ?? AUDIT_KEEP_MS);
  const catalogue = (partitions: number) => topicCatalogue({ names, partitions, retryDelaysMs, auditKeepMs });
  if (told.partitions !== undefined) return catalogue(told.partitions);
  const undivided = undividedTopics(catalogue(2));
  // Those of which the setting decides.
  const divided = topics.filter(({ name }) => !undivided.has(name));
  return catalogue(mostCommon(divided.map(({ partitions }) => partitions)));
}

export function topicFindings(facts: TopicFacts): readonly Finding[] {
  const { topics, told } = facts;
  const replication = {
    replicationFactor: told.replicationFactor ?? mostCommon(topics.map(({ replicationFactor }) => replicationFactor)),
    minInsyncReplicas: told.minInsyncReplicas ?? mostCommon(topics.map(minInsyncReplicas)),
  };
  const undivided = undividedTopics(topicCatalogue({ ...facts, partitions: 2 }));
  return compareTopics(wantedTopics(facts), topics, replication).map((difference) =>
    difference.kind === "report" && difference.of === "partitions" && undivided.has(difference.topic)
      ? dividedFinding(difference)
      : findingOf(difference, told),
  );
}

/** Of a catalogue for several partitions, the topics that have one all the same: their order is of the whole topic. */
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

/** The largest of those that are as frequent; 1 where there is none. */
function mostCommon(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [[common] = [1]] = [...counts].sort(([a, timesA], [b, timesB]) => timesB - timesA || b - a);
  return common;
}

export function minInsyncReplicas({ settings }: DescribedTopic): number {
  return Number(settings.get("min.insync.replicas") ?? 1);
}

function findingOf(difference: TopicDifference, told: ToldTopics): Finding {
  const { topic } = difference;
  switch (difference.kind) {
    case "create":
      return { state: "wrong", what: `${topic} is missing.`, remedy: MAKE_TOPICS };
    case "grow": {
      const wanted = told.partitions === undefined ? "most others have" : "POSTHASTE_PARTITIONS says";
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
    case "report": {
      const isTold = difference.of === "partitions" ? told.partitions : told.replicationFactor;
      return {
        state: "warning",
        what: `${topic} ${difference.detail.replace(/;.*/, "")}, as ${isTold === undefined ? "most others have" : "control is told"}.`,
        remedy: REPORT_REMEDIES[difference.of],
      };
    }
  }
}

const REPORT_REMEDIES = {
  partitions: "Nobody can take partitions away: give the others as many, or leave it as it is.",
  replicas: "Kafka's own tools can reassign its partitions, and no program of Posthaste does it.",
} as const;
