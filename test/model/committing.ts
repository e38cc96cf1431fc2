/**
 * The checks made twice a second of a run: the waiting records, and C6, that partitions gained in peace are committed.
 */
import type { CommitWitness } from "./commit-witness.ts";
import type { Group } from "./group.ts";
import { NAMES, RETRY_TOPICS } from "./installation.ts";
import type { ModelLog } from "./model-log.ts";
import type { Processes } from "./processes.ts";
import type { World } from "./world.ts";

/** C6: a second, and the time of an answer. */
const COMMIT_WITHIN_MS = 1500;

/** Each group of the installation with the topics that it reads. */
export const GROUP_TOPICS: readonly (readonly [string, readonly string[]])[] = [
  [NAMES.routerGroup, [NAMES.events]],
  [NAMES.deliveryGroup, [NAMES.deliveries]],
  [NAMES.retryGroup, RETRY_TOPICS],
];

export interface Committing {
  readonly world: World;
  readonly log: ModelLog;
  readonly groups: ReadonlyMap<string, Group>;
  readonly processes: Processes;
  readonly commits: CommitWitness;
}

/** Partitions in which something is not finished, as the groups' commits say. */
export function waitingPartitions({ log, groups }: Pick<Committing, "log" | "groups">): readonly string[] {
  const waiting: string[] = [];
  for (const [groupId, topics] of GROUP_TOPICS) {
    const group = groups.get(groupId);
    for (const topic of topics) {
      for (const { partition, end } of log.partitionsOf(topic)) {
        const committed = group?.committedAt({ topic, partition })?.offset ?? 0;
        if (committed < end) waiting.push(`${topic}/${partition} ${committed} of ${end}`);
      }
    }
  }
  return waiting;
}

/** C6: partitions gained a while ago, in peace, must have been committed. */
export function checkGains({ world, groups, processes, commits }: Committing): void {
  for (const process of processes.alive) {
    if (!process.isAlive || process.network.quietForMs < COMMIT_WITHIN_MS) continue;
    for (const { groupId, topic, partition } of process.service?.owned() ?? []) {
      const group = groups.get(groupId);
      if (group === undefined || group.quietForMs < COMMIT_WITHIN_MS + 1000) continue;
      const place = { topic, partition };
      const before = world.nowMs - COMMIT_WITHIN_MS;
      commits.checkGained(process.id, groupId, place, before);
      if (group.stableForMs < COMMIT_WITHIN_MS + 1000) continue;
      commits.checkCommitted(process.id, groupId, place, group.committedAt(place), before);
    }
  }
}
