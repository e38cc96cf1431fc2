/**
 * How much one source may send: for each a bucket of one second's calls and one of a second's bytes, filled
 * continuously.
 *
 * A request is accepted whole while anything is left in both buckets and leaves a debt that the next ones wait for: a
 * client that sends large batches is slowed down, and never refused for their size. So whether a source may send is
 * known before anything is made of a request, and what it sent is taken from the buckets as soon as that is known.
 */

/** What a source sent, or may send in a second. */
export interface Amount {
  readonly calls: number;
  readonly bytes: number;
}

export interface RateLimit {
  /** Ms until both of the source's buckets have something; 0 when they have. */
  waitMs(sourceId: string): number;
  /** Takes what it sent from its buckets. */
  take(sourceId: string, sent: Amount): void;
}

export interface RateLimitOptions {
  readonly perSecond: Amount;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
}

interface Buckets {
  calls: number;
  bytes: number;
  filledAtMs: number;
}

export function createRateLimit({ perSecond, monotonicMs }: RateLimitOptions): RateLimit {
  const bySource = new Map<string, Buckets>();

  const filled = (sourceId: string): Buckets => {
    const nowMs = monotonicMs();
    const buckets = bySource.get(sourceId);
    if (buckets === undefined) {
      const full = { ...perSecond, filledAtMs: nowMs };
      bySource.set(sourceId, full);
      return full;
    }
    const seconds = (nowMs - buckets.filledAtMs) / 1000;
    buckets.calls = Math.min(perSecond.calls, buckets.calls + seconds * perSecond.calls);
    buckets.bytes = Math.min(perSecond.bytes, buckets.bytes + seconds * perSecond.bytes);
    buckets.filledAtMs = nowMs;
    return buckets;
  };

  return {
    waitMs: (sourceId) => {
      const { calls, bytes } = filled(sourceId);
      return Math.max(waitMsOf(calls, perSecond.calls), waitMsOf(bytes, perSecond.bytes));
    },
    take: (sourceId, sent) => {
      const buckets = filled(sourceId);
      buckets.calls -= sent.calls;
      buckets.bytes -= sent.bytes;
    },
  };
}

function waitMsOf(left: number, perSecond: number): number {
  return left > 0 ? 0 : Math.max(1, (-left * 1000) / perSecond);
}
