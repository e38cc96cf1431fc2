/** Checks that each record stands on as many brokers as it should, and that each partition can be written. */
import type { DescribedTopic } from "@posthaste/kafka/topics/topic-admin";
import type { Finding } from "./check.ts";
import { replicationAdvice } from "./replication-advice.ts";
import { minInsyncReplicas } from "./topic-check.ts";

/** `brokers`: how many the cluster has now. */
export function replicationFindings(topics: readonly DescribedTopic[], brokers: number): readonly Finding[] {
  const partitions = topics.flatMap((topic) =>
    topic.copies.map((copies, partition) => ({
      ...copies,
      name: `${topic.name}/${partition}`,
      wanted: minInsyncReplicas(topic),
    })),
  );
  const without = partitions.filter(({ leader }) => leader < 0);
  const led = partitions.filter(({ leader }) => leader >= 0);
  const closed = led.filter(({ inSync, wanted }) => inSync.length < wanted);
  const behind = led.filter(
    ({ inSync, replicas, wanted }) => inSync.length < replicas.length && inSync.length >= wanted,
  );
  const bring = (of: typeof partitions) =>
    `Bring ${brokersOf(of)} back, or look at its log and its disk where it runs; what lacks is copied then.`;
  const advice = replicationAdvice(brokers, Math.max(0, ...topics.map(({ replicationFactor }) => replicationFactor)));
  return [
    ...some(without, "wrong", (which) => `No broker leads ${which}: nothing is read or written there.`, bring),
    ...some(closed, "wrong", (which) => `Too few copies of ${which} are in step: nothing is written there.`, bring),
    ...some(behind, "warning", (which) => `Copies of ${which} are behind.`, bring),
    ...(advice === null ? [] : [{ state: "warning", ...advice } as const]),
  ];
}

interface Partition {
  readonly name: string;
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
}

function some<P extends Partition>(
  partitions: readonly P[],
  state: Finding["state"],
  what: (which: string) => string,
  remedy: (partitions: P[]) => string,
): readonly Finding[] {
  const [first] = partitions;
  if (first === undefined) return [];
  const which = partitions.length === 1 ? first.name : `${partitions.length} partitions, ${first.name} among them`;
  return [{ state, what: what(which), remedy: remedy([...partitions]) }];
}

/** The brokers whose copies are not in sync, in words. */
function brokersOf(partitions: readonly Partition[]): string {
  const ids = new Set(partitions.flatMap(({ replicas, inSync }) => replicas.filter((id) => !inSync.includes(id))));
  const all = [...ids].sort((a, b) => a - b);
  return all.length === 0 ? "the brokers" : `broker ${all.join(", ")}`;
}
