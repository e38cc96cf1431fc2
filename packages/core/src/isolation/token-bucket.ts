/** A token bucket that holds a destination, a sync or a replay to its rate. */

/**
 * The requests that may go at once after a pause, in seconds of the rate: a receiver that asked for 10 a second gets no
 * burst of 10.
 */
const BURST_SECONDS = 0.1;

/**
 * A token bucket that may be overdrawn: an attempt makes one to five requests and must not be divided, so it goes when
 * there is one token, and the next attempt waits longer.
 */
export class TokenBucket {
  #perSecond: number;
  readonly #burstSeconds: number;
  #tokens: number;
  #filledAtMs: number;

  /** A full bucket; with `burstSeconds` one that is empty, and that gathers so many seconds of the rate and one. */
  constructor(perSecond: number, nowMs: number, burstSeconds?: number) {
    this.#perSecond = perSecond;
    this.#burstSeconds = burstSeconds ?? 0;
    this.#tokens = burstSeconds === undefined ? this.#most : 0;
    this.#filledAtMs = nowMs;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  /** The operator set another rate. */
  change(perSecond: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#perSecond = perSecond;
    this.#tokens = Math.min(this.#tokens, this.#most);
  }

  /** Whether an attempt may go now. */
  hasToken(nowMs: number): boolean {
    return this.allowed(nowMs) > 0;
  }

  /** How many requests may go now. */
  allowed(nowMs: number): number {
    this.#fill(nowMs);
    // A bucket that was filled in many small steps may lack the last 1e-12 of a token.
    return Math.floor(this.#tokens + 1e-9);
  }

  /** Counts the requests of an attempt that goes. */
  take(requests: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens -= requests;
  }

  /** Gives back the tokens of requests that were not sent. */
  giveBack(requests: number): void {
    this.#tokens = Math.min(this.#tokens + requests, this.#most);
  }

  /** Ms until the bucket has let so many requests through. */
  waitMs(requests: number, nowMs: number): number {
    this.#fill(nowMs);
    return Math.max(0, ((requests - this.#tokens) / this.#perSecond) * 1000);
  }

  get #most(): number {
    if (this.#burstSeconds > 0) return this.#perSecond * this.#burstSeconds + 1;
    return Math.max(1, this.#perSecond * BURST_SECONDS);
  }

  #fill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#filledAtMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#tokens + gained, this.#most);
    this.#filledAtMs = nowMs;
  }
}
