/**
 * Which partitions stand still: records wait in them, and their group finishes none.
 *
 * Owns: of each partition of each group how much was finished, and since when that is so.
 * LW1  A partition stalls when records waited in it all the time since it last went on: one that was empty begins anew.
 */
import { type UnfinishedRange, unfinishedBelow } from "../pipeline/unfinished-range.ts";

/** A group that finishes nothing for so long stands still, whatever it is at: no attempt takes as long. */
const STALLED_MS = 60_000;

export interface StalledPartition {
  readonly topic: string;
  readonly partition: number;
  readonly groupId: string;
  /** Records that wait. */
  readonly behind: number;
  readonly stalledMs: number;
}

interface Seen {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly behind: number;
  readonly finished: number;
  /** When it last went on, by the caller's clock. */
  readonly sinceMs: number;
  /** How long records may wait here by themselves. */
  readonly delayMs: number;
}

export class LagWatch {
  readonly #seen = new Map<string, Seen>();

  /** A look at one partition. */
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

  /** The one that stands for longest at the front. */
  stalled(nowMs: number): readonly StalledPartition[] {
    return [...this.#seen.values()]
      .filter(({ behind, sinceMs, delayMs }) => behind > 0 && nowMs - sinceMs >= STALLED_MS + delayMs)
      .map(({ topic, partition, groupId, behind, sinceMs }) => {
        return { topic, partition, groupId, behind, stalledMs: nowMs - sinceMs };
      })
      .sort((a, b) => b.stalledMs - a.stalledMs);
  }
}
