/**
 * The rate of each source: a bucket of one second's calls and one of a second's bytes, filled continuously.
 *
 * A request is accepted whole while anything is left in both buckets, and leaves a debt that later requests wait for: a
 * client that sends large batches is slowed down, and never refused for their size. So a request can be refused before
 * anything is made of it, and is taken from the buckets as soon as its size is known.
 *
 * Owns: the buckets of the sources that sent.
 * SB1  Once more than `MAX_BUCKETS` sources have buckets, those whose buckets are full again are dropped: a source
 *      without buckets has full ones.
 */

/** The calls and bytes that a source sent, or may send within a second. */
export interface Amount {
  readonly calls: number;
  readonly bytes: number;
}

export interface RateLimit {
  /** Ms until both of the source's buckets have something; 0 when they have. */
  waitMs(sourceId: string): number;
  /** Takes the source's amount from its buckets. */
  take(sourceId: string, sent: Amount): void;
  /** How many sources have buckets (SB1). */
  readonly size: number;
}

export interface RateLimitOptions {
  readonly perSecond: Amount;
  /** The monotonic clock, in ms. */
  readonly monotonicMs: () => number;
}

const MAX_BUCKETS = 4_096;

interface Buckets {
  calls: number;
  bytes: number;
  filledAtMs: number;
}

export function createRateLimit({ perSecond, monotonicMs }: RateLimitOptions): RateLimit {
  const bySource = new Map<string, Buckets>();

  const fill = (buckets: Buckets): Buckets => {
    const nowMs = monotonicMs();
    const seconds = (nowMs - buckets.filledAtMs) / 1000;
    buckets.calls = Math.min(perSecond.calls, buckets.calls + seconds * perSecond.calls);
    buckets.bytes = Math.min(perSecond.bytes, buckets.bytes + seconds * perSecond.bytes);
    buckets.filledAtMs = nowMs;
    return buckets;
  };

  const forgetFull = (): void => {
    for (const [id, buckets] of bySource) {
      const { calls, bytes } = fill(buckets);
      if (calls === perSecond.calls && bytes === perSecond.bytes) bySource.delete(id);
    }
  };

  return {
    waitMs: (sourceId) => {
      const buckets = bySource.get(sourceId);
      if (buckets === undefined) return 0;
      const { calls, bytes } = fill(buckets);
      return Math.max(waitMsOf(calls, perSecond.calls), waitMsOf(bytes, perSecond.bytes));
    },
    take: (sourceId, sent) => {
      let buckets = bySource.get(sourceId);
      if (buckets === undefined) {
        if (bySource.size >= MAX_BUCKETS) forgetFull();
        buckets = { ...perSecond, filledAtMs: monotonicMs() };
        bySource.set(sourceId, buckets);
      }
      fill(buckets);
      buckets.calls -= sent.calls;
      buckets.bytes -= sent.bytes;
    },
    get size() {
      return bySource.size;
    },
  };
}

function waitMsOf(left: number, perSecond: number): number {
  return left > 0 ? 0 : Math.max(1, (-left * 1000) / perSecond);
}
