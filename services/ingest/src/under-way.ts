/**
 * Requests under way, by source: shared out while the process is busy, since what reading and answering a request costs is no work that
 * could wait its turn.
 *
 * Owns the number of requests that each source has under way, and when it sent last.
 * U1  While the process is busy and more than one source sends, a source that has its fair share of `MAX_UNDER_WAY` under way, or more,
 *     begins no more. One that has less is never refused, and one that is alone has no bound here.
 * U2  A source sends until a second after its last request.
 */
import { ACTIVE_MS, MAX_UNDER_WAY } from "./limits.ts";

export interface UnderWay {
  /** Whether the source has its share, so that no more of it is to begin (U1). */
  isFull(sourceId: string): boolean;
  /** A request begins; answers what is to be called once when it is over. */
  begin(sourceId: string): () => void;
}

export interface UnderWayOptions {
  readonly isBusy: () => boolean;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

interface Sending {
  requests: number;
  lastMs: number;
}

export function createUnderWay({ isBusy, monotonicMs }: UnderWayOptions): UnderWay {
  const bySource = new Map<string, Sending>();

  /** How many sources send, with this one; the others are forgotten. */
  const countSources = (sourceId: string): number => {
    const sinceMs = monotonicMs() - ACTIVE_MS;
    for (const [id, { requests, lastMs }] of bySource) {
      if (requests === 0 && lastMs < sinceMs) bySource.delete(id);
    }
    return bySource.size + (bySource.has(sourceId) ? 0 : 1);
  };

  return {
    isFull: (sourceId) => {
      const own = bySource.get(sourceId)?.requests ?? 0;
      if (own === 0 || !isBusy()) return false;
      const sources = countSources(sourceId);
      return sources > 1 && own >= MAX_UNDER_WAY / sources;
    },
    begin: (sourceId) => {
      const sending = bySource.get(sourceId) ?? { requests: 0, lastMs: 0 };
      bySource.set(sourceId, sending);
      sending.requests++;
      sending.lastMs = monotonicMs();
      return () => {
        sending.requests--;
      };
    },
  };
}
