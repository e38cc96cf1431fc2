/**
 * Which partitions stall: records wait in them, and their group finishes none.
 *
 * Owns: for each partition of each group, how much was finished, and since when that has not changed.
 * LW1  A partition stalls when records have waited in it all the time since its group last finished one: for a
 *      partition that was empty the time begins again.
 */
import { type UnfinishedRange, unfinishedBelow } from "@posthaste/pipeline/unfinished-range";

/** A group that finishes nothing for this long, in ms, stalls, whatever it is doing: no attempt takes as long. */
const STALLED_MS = 60_000;

export interface StalledPartition {
  readonly topic: string;
  readonly partition: number;
  readonly groupId: string;
  /** How many records wait. */
  readonly behind: number;
  readonly stalledMs: number;
}

interface Seen {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly behind: number;
  readonly finished: number;
  /** When its group last finished a record, by the caller's clock. */
  readonly sinceMs: number;
  /** How long records may wait in the partition by its topic's delay, in ms. */
  readonly delayMs: number;
}

export class LagWatch {
  readonly #seen = new Map<string, Seen>();

  /** Notes a look at one partition. */
  see(range: UnfinishedRange, { groupId, delayMs, nowMs }: { groupId: string; delayMs: number; nowMs: number }): void {
    const { topic, partition, start, end, finishedRuns } = range;
    const behind = unfinishedBelow(range, end);
    const finished = start + finishedRuns.reduce((sum, { from, to }) => sum + to - from, 0);
    const key = `${groupId}/${topic}/${partition}`;
    const before = this.#seen.get(key);
    const isStill = before !== undefined && before.behind > 0 && behind > 0 && before.finished === finished;
    const sinceMs = isStill ? before.sinceMs : nowMs;
    this.#seen.set(key, { groupId, topic, partition, behind, finished, sinceMs, delayMs });
  }

  /** The partitions that stall, the longest first. */
  stalled(nowMs: number): readonly StalledPartition[] {
    return [...this.#seen.values()]
      .filter(({ behind, sinceMs, delayMs }) => behind > 0 && nowMs - sinceMs >= STALLED_MS + delayMs)
      .map(({ topic, partition, groupId, behind, sinceMs }) => {
        return { topic, partition, groupId, behind, stalledMs: nowMs - sinceMs };
      })
      .sort((a, b) => b.stalledMs - a.stalledMs);
  }
}
