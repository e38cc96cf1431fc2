/**
 * The rate that an operator set for a destination, in requests a second, or none.
 *
 * Owns: the token bucket of the rate. Without a rate there is no bucket, and every request may go.
 */
import { TokenBucket } from "./token-bucket.ts";

export class DestinationRate {
  #bucket: TokenBucket | null = null;

  /** Sets the rate; null for none. Cheap when nothing changed. */
  set(perSecond: number | null, nowMs: number): void {
    if (perSecond === (this.#bucket?.perSecond ?? null)) return;
    if (perSecond === null) this.#bucket = null;
    else if (this.#bucket === null) this.#bucket = new TokenBucket(perSecond, nowMs);
    else this.#bucket.change(perSecond, nowMs);
  }

  /** Whether an attempt may go now. */
  allows(nowMs: number): boolean {
    return this.#bucket === null || this.#bucket.hasToken(nowMs);
  }

  /** Counts the requests of an attempt that goes. */
  take(requests: number, nowMs: number): void {
    this.#bucket?.take(requests, nowMs);
  }

  /** Gives back the count of requests that were not sent. */
  giveBack(requests: number): void {
    this.#bucket?.giveBack(requests);
  }

  /** Ms until the rate has let so many requests through; 0 without a rate. */
  waitMs(requests: number, nowMs: number): number {
    return this.#bucket?.waitMs(requests, nowMs) ?? 0;
  }
}
