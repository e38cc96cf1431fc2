/**
 * Active requests, by source: from when a request's source is known until its response closes. They are shared out
 * while the process is busy, since what reading a request's head and answering it costs is no work that could wait.
 *
 * Owns the number of active requests of each source, and when the source sent last.
 * AR1  While the process is busy and `MAX_ACTIVE_REQUESTS` requests or more are active, a source begins no more that
 *      has its max-min fair share of them or more, unless another source that sends has had more of the process's time
 *      lately: a source that is slowed down by another has many active requests because of that, and is not refused for
 *      it. A source that is alone has no bound here.
 * AR2  A source counts as sending until a second after its last request.
 * AR3  Once more than `MAX_SOURCES` are held, those that send no more are dropped.
 */
import { ACTIVE_MS, MAX_ACTIVE_REQUESTS } from "../limits.ts";

export interface ActiveRequests {
  /** Whether the source has its share, so that no more of it is to begin (AR1). */
  isFull(sourceId: string): boolean;
  /** A request begins; answers what is to be called once when it is over. */
  begin(sourceId: string): () => void;
  /** How many sources are held (AR3). */
  readonly size: number;
}

export interface ActiveRequestsOptions {
  readonly isBusy: () => boolean;
  /** How much of the process's time a source has had lately, in ms. */
  readonly recentMs: (sourceId: string) => number;
  /** Ms, never going back. */
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
 * The most that each source may have so that all have `MAX_ACTIVE_REQUESTS` together: what one source leaves of its
 * part is the others'.
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
