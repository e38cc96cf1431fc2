/** Finds deliveries whose records were deleted before delivery had finished them, and that nobody accepted as lost. */
import { type AcceptedLoss, behindAcceptedLosses } from "@posthaste/contracts/accepted-loss";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { existingRetryTopics } from "@posthaste/kafka/topics/topic-admin";
import { type UnfinishedRange, unfinishedOfGroups } from "@posthaste/pipeline/unfinished-range";

/** A loss that stops delivery until somebody accepts it. */
export type Loss = Omit<AcceptedLoss, "beforeMs" | "atMs">;

export async function findLosses(
  connection: KafkaConnection,
  names: TopicNames,
  accepted: readonly AcceptedLoss[],
): Promise<readonly Loss[]> {
  const retryTopics = await existingRetryTopics(connection, names);
  const ranges = await unfinishedOfGroups(connection, [
    { groupId: names.deliveryGroup, topics: [names.deliveries] },
    { groupId: names.retryGroup, topics: retryTopics },
  ]);
  return ranges.flatMap((range) => lossOf(range, accepted));
}

/** The part of a range that was lost and is not accepted yet; empty where there is none. */
export function lossOf(
  { topic, partition, topicId, start, deleted }: UnfinishedRange,
  accepted: readonly AcceptedLoss[],
): readonly Loss[] {
  if (deleted === null) return [];
  const from = behindAcceptedLosses(accepted, { topic, partition, topicId }, deleted.from);
  if (from >= start) return [];
  // No commit tells which records behind an accepted loss were finished.
  const records = from === deleted.from ? deleted.records : start - from;
  return [{ topic, partition, topicId, from, to: start, records }];
}

/** `posthaste.deliveries.retry-10s/3, offsets 120 to 4711 (4,592 deliveries)`. */
export function lossInWords({ topic, partition, from, to, records }: Loss): string {
  const deliveries = records === 1 ? "1 delivery" : `${records.toLocaleString("en")} deliveries`;
  return `${topic}/${partition}, offsets ${from} to ${to - 1} (${deliveries} at the most)`;
}
