/** A token bucket that holds a destination to its rate. */

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
  #tokens: number;
  #filledAtMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#tokens = this.#most;
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
    this.#fill(nowMs);
    // A bucket that was filled in many small steps may lack the last 1e-12 of a token.
    return this.#tokens > 1 - 1e-9;
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
    return Math.max(1, this.#perSecond * BURST_SECONDS);
  }

  #fill(nowMs: number): void {
    const gained = (Math.max(0, nowMs - this.#filledAtMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#tokens + gained, this.#most);
    this.#filledAtMs = nowMs;
  }
}
