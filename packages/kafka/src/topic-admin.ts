/** Makes the cluster's topics match the catalogue, and answers what stands in them. */
import type { TopicNames, TopicSpec } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "./connect.ts";

export interface Replication {
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
}

/** One difference between the catalogue and the cluster. */
export type TopicDifference =
  | { readonly kind: "create"; readonly topic: string; readonly spec: TopicSpec }
  | { readonly kind: "grow"; readonly topic: string; readonly from: number; readonly to: number }
  | {
      readonly kind: "configure";
      readonly topic: string;
      readonly setting: string;
      readonly from: string | null;
      readonly to: string;
    }
  /** What `applyTopics` does not do: fewer partitions than there are, another replication factor. */
  | { readonly kind: "report"; readonly topic: string; readonly detail: string };

/** What would be changed; empty when the cluster matches. */
export function planTopics(
  _connection: KafkaConnection,
  _catalogue: readonly TopicSpec[],
  _replication: Replication,
): Promise<readonly TopicDifference[]> {
  throw new Error("not written");
}

/** Makes the cluster match and answers what was different. Never deletes. Makes the events log id where there is none. */
export function applyTopics(
  _connection: KafkaConnection,
  _catalogue: readonly TopicSpec[],
  _replication: Replication & { readonly names: TopicNames },
): Promise<readonly TopicDifference[]> {
  throw new Error("not written");
}

/** One line a difference, for a person. */
export function formatDifference(_difference: TopicDifference): string {
  throw new Error("not written");
}

/** Rejects with `topic_missing`, naming all that lack. */
export function verifyTopics(_connection: KafkaConnection, _topics: readonly string[]): Promise<void> {
  throw new Error("not written");
}

/** The events topic's log id (D2). Rejects with `topic_missing` when there is none. */
export function readLogId(_connection: KafkaConnection, _names: TopicNames): Promise<number> {
  throw new Error("not written");
}

/** Raises the log id and answers the new one; for whoever resets the router's offsets. */
export function raiseLogId(_connection: KafkaConnection, _names: TopicNames): Promise<number> {
  throw new Error("not written");
}

/** Every retry topic that exists, whatever the schedule says now (W4). */
export function existingRetryTopics(_connection: KafkaConnection, _names: TopicNames): Promise<readonly string[]> {
  throw new Error("not written");
}

/** Start and end offset by partition. */
export function topicOffsets(
  _connection: KafkaConnection,
  _topic: string,
): Promise<readonly { readonly partition: number; readonly start: number; readonly end: number }[]> {
  throw new Error("not written");
}
