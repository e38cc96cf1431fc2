/**
 * What this process knows of one URL of a destination, and how many requests it may have at once (rules I5 and I6).
 *
 * Owns: the URL's circuit breaker, its `Retry-After`, its concurrency limit, its stall detector, and the counts of its
 * requests. Performs nothing. A request is *unsettled* until its outcome is known and *running on* from then to its
 * end, while the body of the answer is read.
 * U1  The concurrency limit counts unsettled requests alone. Those that run on have a bound of their own, `limit.most`,
 *     and an outcome is a sign of life, whatever still runs.
 * U2  An obstacle (an open breaker, a `Retry-After`) is this URL's own: it says nothing of the destination's other
 *     URLs.
 * U3  A URL is *sound* while its breaker is closed, its last request neither timed out nor was answered by a plea for
 *     less, and it is not stalled. Only of a sound URL is it worth waiting for room while another URL of the same
 *     destination has some.
 * U4  Requests are counted in the room that all share (rules H1 to H4) by the URL's state. A URL that is refused its
 *     first request there counts as stalled after the same time as one of which nothing comes back.
 * U5  An attempt that goes whatever stands against the URL (I3) is counted like any other.
 * U6  Beside a URL that can take a delivery now, one without room is waited for only while its turn comes soon: while
 *     it is sound, something came back of late, most of what is out does (rules L1 and L2), and the expected wait is
 *     short.
 */

import { type BreakerSettings, type BreakerState, CircuitBreaker, DEFAULT_BREAKER } from "./circuit-breaker.ts";
import { ClogDetector } from "./clog-detector.ts";
import { ConcurrencyLimit, DEFAULT_LIMIT, type LimitSettings } from "./concurrency-limit.ts";
import type { ConnectionBudget, HealthState } from "./connection-budget.ts";
import { SlidingMinimum } from "./sliding-minimum.ts";
import { StallDetector } from "./stall-detector.ts";

/**
 * What a request came to, for the URL's health. `refused`: the receiver is well and does not want it; `failed`: it
 * broke; `timed_out`: nothing came; `throttled`: it asked for less.
 */
export type RequestOutcome = "delivered" | "refused" | "failed" | "timed_out" | "throttled";

/** What stands against any request now. `soon`: the URL's `Retry-After` ends within `SOON_MS`. */
export type Obstacle = "breaker_open" | "retry_after" | "soon";

export interface UrlHealthSettings {
  readonly limit: LimitSettings;
  readonly breaker: BreakerSettings;
}

export const DEFAULT_URL_HEALTH: UrlHealthSettings = { limit: DEFAULT_LIMIT, breaker: DEFAULT_BREAKER };

/** When and how a request began. */
export interface BegunRequest {
  readonly startedMs: number;
  /** The breaker waits for its outcome. */
  readonly wasProbe: boolean;
}

const SOON_MS = 1000;
/** Nothing came back for so long: in a window where others wait that is long enough. */
const QUIET_MS = 200;
/** Nothing came back for so long: the URL is not sound. */
const STALLED_MS = 1500;
/** For so long a delivery that another URL could take at once waits for this one too. */
const BESIDE_WAIT_MS = 250;
/** A receiver whose requests take less is quick; its connections alone bring two thousand deliveries a second. */
const QUICK_MS = 250;
const CONGESTION_MEMORY_MS = 30_000;
/** Weight of a new sample in the mean time that a request needs. */
const SAMPLE_WEIGHT = 0.1;

export class UrlHealth {
  readonly url: string;
  readonly #breaker: CircuitBreaker;
  readonly #limit: ConcurrencyLimit;
  readonly #most: number;
  readonly #shared: ConnectionBudget;
  readonly #stall = new StallDetector();
  readonly #clog = new ClogDetector();
  #state: HealthState = "unknown";
  #wasCongested = false;
  #shutUntilMs = 0;
  #unsettled = 0;
  #runningOn = 0;
  /** Mean time to a request's outcome; null before the first. */
  #meanMs: number | null = null;
  readonly #leastMs = new SlidingMinimum();
  /** The room that all share refused it its first request. */
  #isHeldBack = false;

  /** `rememberedLimit`: what the URL was seen to manage, from an earlier time; null when nothing is known. */
  constructor(
    url: string,
    settings: UrlHealthSettings,
    shared: ConnectionBudget,
    rememberedLimit: number | null = null,
  ) {
    this.url = url;
    this.#breaker = new CircuitBreaker(settings.breaker);
    this.#limit = new ConcurrencyLimit(settings.limit, rememberedLimit ?? settings.limit.first);
    this.#most = settings.limit.most;
    this.#shared = shared;
  }

  get breakerState(): BreakerState {
    return this.#breaker.state;
  }

  /** Requests without an outcome. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** Requests that have not ended. */
  get out(): number {
    return this.#unsettled + this.#runningOn;
  }

  /** Requests that may be unsettled at once. */
  get limit(): number {
    return this.#limit.value;
  }

  /** The moment till which the receiver asked for peace; in the past when it did not. */
  get shutUntilMs(): number {
    return this.#shutUntilMs;
  }

  /** Nothing is out, and nothing stands against the URL: to forget it loses only what was learnt of it. */
  isIdle(nowMs: number): boolean {
    return this.out === 0 && this.#breaker.state === "closed" && nowMs >= this.#shutUntilMs;
  }

  /** Answers come back from it, whatever they say. */
  get isHealthy(): boolean {
    return this.#state === "healthy";
  }

  /** U3. */
  get isSound(): boolean {
    return this.#breaker.state === "closed" && !this.#wasCongested && !this.isStalled;
  }

  /** Requests are out, and for a while nothing came back. */
  get isQuiet(): boolean {
    return this.#isStalledFor(QUIET_MS);
  }

  /** The same, for longer. */
  get isStalled(): boolean {
    return this.#isStalledFor(STALLED_MS);
  }

  /**
   * U6: whether a delivery that another URL could take at once waits for this one too, behind `ahead` others: not where
   * its turn does not come soon, by what it asked for, by what its requests took and by what comes back now.
   */
  isWaitedForBeside(ahead: number, nowMs: number): boolean {
    if (!this.isSound || this.isQuiet || this.#clog.isClogged) return false;
    return Math.max(this.#shutUntilMs - nowMs, this.expectedWaitMs(ahead + 1, nowMs)) < BESIDE_WAIT_MS;
  }

  /** What stands against any request now, or null. Takes no probe. */
  obstacle(nowMs: number): Obstacle | null {
    if (nowMs < this.#shutUntilMs) return this.#shutUntilMs - nowMs >= SOON_MS ? "retry_after" : "soon";
    return this.#breaker.canAdmit(nowMs) ? null : "breaker_open";
  }

  /** Whether one more request may begin for a delivery that depends on it. */
  hasCapacity(): boolean {
    if (this.#unsettled > 0 && this.#unsettled >= this.#limit.value) return false;
    return this.#hasBudget();
  }

  /**
   * Whether one more may begin for a delivery that another URL settles: what answers may then have more than its limit
   * (U1).
   */
  hasCapacityBeside(): boolean {
    if (this.#state !== "healthy") return this.hasCapacity();
    return this.#unsettled < this.#most && this.#hasBudget();
  }

  /** Whether the room that all share has some for an attempt that goes whatever else stands against the URL (U5). */
  hasReserve(): boolean {
    return this.#shared.allows(1, 0, this.#state);
  }

  /** A request begins. True when it is the breaker's probe. */
  take(nowMs: number): boolean {
    this.takeReserve();
    return this.#breaker.admit(nowMs) === "probe";
  }

  /** A request begins that the breaker is not asked about (U5). */
  takeReserve(): void {
    if (this.#unsettled === 0) {
      this.#stall.reset();
      this.#isHeldBack = false;
    }
    this.#unsettled += 1;
    this.#countOut(1);
  }

  /** A request that was taken is not sent. */
  cancelled(wasProbe: boolean): void {
    this.#unsettled -= 1;
    this.#countOut(-1);
    if (wasProbe) this.#breaker.cancelProbe();
  }

  /**
   * A request's outcome is known; `ended` must follow. `blockedMs`: for so much of its time this process was blocked.
   */
  settled(outcome: RequestOutcome, { startedMs, wasProbe }: BegunRequest, nowMs: number, blockedMs = 0): void {
    this.#noteTime(nowMs - startedMs, nowMs, blockedMs);
    const unsettled = this.#unsettled;
    this.#stall.reset();
    this.#clog.answered();
    const isCongested = outcome === "timed_out" || outcome === "throttled";
    if (isCongested) this.#doubt();
    else this.#prove();
    this.#wasCongested = isCongested;
    this.#unsettled -= 1;
    this.#runningOn += 1;
    if (outcome === "delivered" || outcome === "refused") {
      if (this.#breaker.state !== "closed") this.#limit.reset();
      this.#breaker.succeeded();
      this.#limit.succeeded(unsettled, this.#leastMs.value);
      return;
    }
    this.#breaker.failed(nowMs, wasProbe);
    if (isCongested) this.#limit.congested(startedMs, nowMs);
  }

  /** A request has ended. */
  ended(): void {
    this.#runningOn -= 1;
    this.#countOut(-1);
  }

  /** Time passed, and this process saw it pass. */
  passed(ms: number): void {
    if (this.#unsettled === 0) this.#clog.reset();
    else this.#clog.passed(ms, this.#unsettled, this.#meanMs ?? 0);
    if (this.#unsettled === 0 && !this.#isHeldBack) return;
    this.#stall.passed(ms);
    if (this.#unsettled > 0 && this.isQuiet) this.#doubt();
  }

  /** The receiver asked for peace till then (W5). */
  shutUntil(momentMs: number): void {
    this.#shutUntilMs = Math.max(this.#shutUntilMs, momentMs);
  }

  /** The destination was changed: what is known against the URL may be mended. */
  reset(): void {
    if (this.#state === "suspect") this.#state = "unknown";
    this.#wasCongested = false;
    if (this.#breaker.state === "closed" && this.#shutUntilMs === 0) return;
    this.#breaker.succeeded();
    this.#limit.reset();
    this.#shutUntilMs = 0;
  }

  /**
   * How long a delivery would wait behind `ahead` others: their number over the completions a second, and of these
   * there are as many as the limit, or the room that all share, lets the URL have over the time that a request needs. 0
   * for a URL that is quick and was not congested lately: its queue is as long as this process is slow.
   */
  expectedWaitMs(ahead: number, nowMs: number): number {
    const meanMs = this.#meanMs ?? 0;
    if (meanMs < QUICK_MS && !this.#limit.wasHalved(nowMs, CONGESTION_MEMORY_MS)) return 0;
    return Math.max(this.#limit.waitMs(ahead, meanMs), (meanMs * ahead) / this.#shared.most(this.#state));
  }

  #hasBudget(): boolean {
    if (this.#runningOn < this.#most && this.#shared.allows(1, this.out, this.#state)) return true;
    if (this.#unsettled === 0 && !this.#isHeldBack) {
      this.#isHeldBack = true;
      this.#stall.reset();
    }
    return false;
  }

  #isStalledFor(patienceMs: number): boolean {
    if (this.#isHeldBack && this.#state === "suspect") return true;
    return (this.#unsettled > 0 || this.#isHeldBack) && this.#stall.isStalled(patienceMs, this.#meanMs ?? 0);
  }

  #noteTime(tookMs: number, nowMs: number, blockedMs: number): void {
    // All of it, since the receiver may have needed that too: none is to count as quick that was not seen to be.
    this.#leastMs.note(tookMs, nowMs);
    const neededMs = Math.max(0, tookMs - blockedMs);
    this.#meanMs = this.#meanMs === null ? neededMs : this.#meanMs + SAMPLE_WEIGHT * (neededMs - this.#meanMs);
  }

  #countOut(requests: number): void {
    this.#shared.changed(requests, this.#state === "healthy" ? 0 : requests);
  }

  #prove(): void {
    if (this.#state !== "healthy") this.#shared.changed(0, -this.out);
    this.#state = "healthy";
  }

  #doubt(): void {
    if (this.#state === "healthy") this.#shared.changed(0, this.out);
    this.#state = "suspect";
  }
}
