/**
 * The active requests of each source. A request is active from when its source is known until its response closes.
 * While the process is busy they are shared out, since reading a request's head and answering it is work that cannot
 * wait in a queue.
 *
 * Owns: the number of active requests of each source, and when the source last sent.
 * AR1  While the process is busy and `MAX_ACTIVE_REQUESTS` or more are active, a source that has its max-min fair share
 *      of them begins no more. Two sources are not held to this: one that is alone, and one that had less of the
 *      process's time lately than another that sends, since a source that is slowed down by another has many active
 *      requests because of that.
 * AR2  A source counts as sending until a second after its last request.
 * AR3  Once more than `MAX_SOURCES` sources are held, those that no longer send are dropped.
 */
import { ACTIVE_MS, MAX_ACTIVE_REQUESTS } from "../limits.ts";

export interface ActiveRequests {
  /** Whether the source has its share, so that no further request of it may begin (AR1). */
  isFull(sourceId: string): boolean;
  /** Begins a request. Returns a function to call once, when the request is over. */
  begin(sourceId: string): () => void;
  /** How many sources are held (AR3). */
  readonly size: number;
}

export interface ActiveRequestsOptions {
  readonly isBusy: () => boolean;
  /** How much of the process's time a source had lately, in ms. */
  readonly recentMs: (sourceId: string) => number;
  /** The monotonic clock, in ms. */
  readonly monotonicMs: () => number;
}

const MAX_SOURCES = 4_096;

interface Sending {
  requests: number;
  lastMs: number;
}

export function createActiveRequests({ isBusy, recentMs, monotonicMs }: ActiveRequestsOptions): ActiveRequests {
  const bySource = new Map<string, Sending>();

  const forgetQuiet = (): void => {
    const sinceMs = monotonicMs() - ACTIVE_MS;
    for (const [id, { requests, lastMs }] of bySource) {
      if (requests === 0 && lastMs < sinceMs) bySource.delete(id);
    }
  };

  return {
    isFull: (sourceId) => {
      const own = bySource.get(sourceId)?.requests ?? 0;
      if (own === 0 || !isBusy()) return false;
      forgetQuiet();
      if (bySource.size === 1 || own < fairShare(bySource.values())) return false;
      const ownMs = recentMs(sourceId);
      for (const id of bySource.keys()) if (recentMs(id) > ownMs) return false;
      return true;
    },
    begin: (sourceId) => {
      let sending = bySource.get(sourceId);
      if (sending === undefined) {
        if (bySource.size >= MAX_SOURCES) forgetQuiet();
        sending = { requests: 0, lastMs: 0 };
        bySource.set(sourceId, sending);
      }
      const begun = sending;
      sending.requests++;
      sending.lastMs = monotonicMs();
      return () => {
        begun.requests--;
      };
    },
    get size() {
      return bySource.size;
    },
  };
}

/**
 * The fair share: the most requests that each source may have so that all have `MAX_ACTIVE_REQUESTS` together, where
 * other sources share the part that one leaves.
 */
function fairShare(sending: Iterable<Sending>): number {
  const counts = Array.from(sending, ({ requests }) => requests).sort((a, b) => a - b);
  let left = MAX_ACTIVE_REQUESTS;
  for (const [index, requests] of counts.entries()) {
    const share = left / (counts.length - index);
    if (requests >= share) return share;
    left -= requests;
  }
  return Number.POSITIVE_INFINITY;
}
