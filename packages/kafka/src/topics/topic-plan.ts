/** Compares the cluster's topics with the catalogue's. Pure. */
import type { TopicSpec } from "@posthaste/contracts/topics";

export interface Replication {
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
}

/** The copies that failover relies on; more cost writes and gain little. */
const MOST_REPLICAS = 3;

/** The replication where no setting names another: as many copies as the cluster's brokers allow, three at the most. */
export function replicationOf(brokers: number): Replication {
  const replicationFactor = Math.max(1, Math.min(brokers, MOST_REPLICAS));
  // Of two copies both would have to be in step: with one broker down, no record could be written.
  return { replicationFactor, minInsyncReplicas: replicationFactor === MOST_REPLICAS ? 2 : 1 };
}

/** A topic as the cluster has it now. */
export interface ExistingTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Settings by name, defaults included. */
  readonly settings: ReadonlyMap<string, string>;
}

/** One difference between the catalogue and the cluster. */
export type TopicDifference =
  | { readonly kind: "create"; readonly topic: string; readonly spec: TopicSpec }
  | { readonly kind: "grow"; readonly topic: string; readonly from: number; readonly to: number }
  | {
      readonly kind: "configure";
      readonly topic: string;
      readonly setting: string;
      /** The value now; null when the cluster does not say. */
      readonly from: string | null;
      readonly to: string;
    }
  /** A retention that somebody gave the topic, and that stays; `wanted` is the catalogue's. Both in ms. */
  | { readonly kind: "keep"; readonly topic: string; readonly retentionMs: number; readonly wanted: number }
  /** A difference that is reported and left: the topic has more partitions, or another replication factor. */
  | {
      readonly kind: "report";
      readonly topic: string;
      readonly of: "partitions" | "replicas";
      readonly detail: string;
    };

/** The settings that the catalogue decides for a topic. */
export function settingsOf(spec: TopicSpec, { minInsyncReplicas }: Replication): ReadonlyMap<string, string> {
  const settings = new Map([
    ["cleanup.policy", spec.cleanup],
    ["message.timestamp.type", spec.timestamps],
    ["min.insync.replicas", String(minInsyncReplicas)],
    // The broker keeps batches as the producer sent them: compressing them would cost the broker and every reader CPU
    // time.
    ["compression.type", "producer"],
  ]);
  if (spec.retentionMs !== null) {
    settings.set("retention.ms", String(spec.retentionMs));
    // A waiting record must not be dropped for the topic's size (W7).
    settings.set("retention.bytes", "-1");
  }
  if (spec.minCompactionLagMs !== undefined) settings.set("min.compaction.lag.ms", String(spec.minCompactionLagMs));
  return settings;
}

/** The differences, in the catalogue's order; none when the cluster matches. */
export function compareTopics(
  catalogue: readonly TopicSpec[],
  existing: readonly ExistingTopic[],
  replication: Replication,
): readonly TopicDifference[] {
  const byName = new Map(existing.map((topic) => [topic.name, topic]));
  return catalogue.flatMap((spec): readonly TopicDifference[] => {
    const found = byName.get(spec.name);
    if (found === undefined) return [{ kind: "create", topic: spec.name, spec }];
    return [
      ...comparePartitions(spec, found),
      ...compareReplicas(found, replication),
      ...compareSettings(spec, found, replication),
    ];
  });
}

function comparePartitions(spec: TopicSpec, { partitions }: ExistingTopic): readonly TopicDifference[] {
  const { name: topic } = spec;
  if (partitions === spec.partitions) return [];
  if (partitions < spec.partitions) return [{ kind: "grow", topic, from: partitions, to: spec.partitions }];
  return [
    {
      ...{ kind: "report", topic, of: "partitions" },
      detail: `has ${partitions} partitions, ${spec.partitions} wanted; Kafka cannot take partitions away`,
    },
  ];
}

function compareReplicas(found: ExistingTopic, wanted: Replication): readonly TopicDifference[] {
  if (found.replicationFactor === wanted.replicationFactor) return [];
  const detail = `has ${found.replicationFactor} replicas, ${wanted.replicationFactor} wanted; reassign its partitions by hand`;
  return [{ kind: "report", topic: found.name, of: "replicas", detail }];
}

function compareSettings(spec: TopicSpec, found: ExistingTopic, replication: Replication): readonly TopicDifference[] {
  // With fewer copies than wanted, the wanted minimum could close the topic to every write.
  const { replicationFactor, minInsyncReplicas: wanted } = replication;
  const isShort = found.replicationFactor < replicationFactor;
  const minInsyncReplicas = isShort ? Math.min(wanted, Math.max(1, found.replicationFactor - 1)) : wanted;
  return [...settingsOf(spec, { replicationFactor, minInsyncReplicas })].flatMap(
    ([setting, to]): readonly TopicDifference[] => {
      const from = found.settings.get(setting) ?? null;
      if (from === to) return [];
      if (setting === "retention.ms" && mayKeep(spec, from)) {
        return [{ kind: "keep", topic: spec.name, retentionMs: Number(from), wanted: Number(to) }];
      }
      return [{ kind: "configure", topic: spec.name, setting, from, to }];
    },
  );
}

/** Whether the topic's own retention stays; -1 has no end. */
function mayKeep({ leastRetentionMs }: TopicSpec, from: string | null): boolean {
  if (from === null || leastRetentionMs === undefined) return false;
  return Number(from) === -1 || Number(from) >= leastRetentionMs;
}
