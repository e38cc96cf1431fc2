/**
 * The health of one URL of a destination, as this process knows it, and how many requests the URL may have out at once
 * (rules I5 and I6 of docs/design.md).
 *
 * Owns: the URL's circuit breaker, its `Retry-After`, its concurrency limit, its stall and clog detectors, and the
 * counts of its requests. Performs nothing. A request is *unsettled* until its outcome is known and *running on* from
 * then to its end, while the body of the answer is read.
 *
 * States: *unknown* (no outcome yet), *healthy*, *suspect*. Any outcome but a timeout and a 429 leads to healthy; those
 * two, and 200 ms without any answer while requests are out, lead to suspect; `reset` leads from suspect to unknown.
 * UH1  The concurrency limit counts unsettled requests alone. Those that run on have a bound of their own,
 *      `limit.most`, and an outcome is a sign of life, whatever still runs.
 * UH2  An obstacle (an open breaker, a `Retry-After`) is this URL's own: it says nothing of the destination's other
 *      URLs.
 * UH3  A URL is *sound* while its breaker is closed, its last request neither timed out nor was answered 429, and it is
 *      not stalled. While one URL of a destination can take a delivery, another is worth waiting for only if it is
 *      sound.
 * UH4  Requests are counted in the connection budget (rules CB1 to CB4 of connection-budget.ts) by the URL's state.
 *      When the budget refuses a URL its first request, the URL counts as stalled: a suspect URL at once, any other
 *      after the same time as a URL from which nothing comes back.
 * UH5  A last attempt (I3), which goes whatever stands against the URL, is counted like any other.
 * UH6  Beside a URL that can take a delivery now, another without capacity is waited for only while it will have some
 *      soon: while it is sound, something came back within 200 ms, most of what is out does come back (rules CD1 and
 *      CD2 of clog-detector.ts), and the expected wait is short.
 */

import { type BreakerSettings, CircuitBreaker, DEFAULT_BREAKER } from "./circuit-breaker.ts";
import { ClogDetector } from "./clog-detector.ts";
import { ConcurrencyLimit, DEFAULT_LIMIT, type LimitSettings } from "./concurrency-limit.ts";
import type { ConnectionBudget, HealthState } from "./connection-budget.ts";
import { RequestTimes } from "./request-times.ts";
import { StallDetector } from "./stall-detector.ts";

/**
 * What a request came to, for the URL's health. `delivered`: it was answered 2xx. `refused`: the receiver is well and
 * does not want it. `failed`: it broke. `timed_out`: no answer came in time. `throttled`: it was answered 429.
 */
export type RequestOutcome = "delivered" | "refused" | "failed" | "timed_out" | "throttled";

/** What stands against any request to the URL now. `soon`: its `Retry-After` ends within `SOON_MS`. */
export type Obstacle = "breaker_open" | "retry_after" | "soon";

export interface UrlHealthSettings {
  readonly limit: LimitSettings;
  readonly breaker: BreakerSettings;
}

export const DEFAULT_URL_HEALTH: UrlHealthSettings = { limit: DEFAULT_LIMIT, breaker: DEFAULT_BREAKER };

/** When and how a request began. */
export interface BegunRequest {
  readonly startedMs: number;
  /** The request is the breaker's probe. */
  readonly wasProbe: boolean;
}

const SOON_MS = 1000;
/** After so long without an answer a delivery no longer waits in a window that others need. */
const QUIET_MS = 200;
/** After so long without an answer the URL is not sound. */
const STALLED_MS = 1500;
/** A delivery that another URL could take at once waits for this one too for less than this. */
const BESIDE_WAIT_MS = 250;
/** A receiver whose requests take less is quick; its connections alone bring two thousand deliveries a second. */
const QUICK_MS = 250;
const CONGESTION_MEMORY_MS = 30_000;

export class UrlHealth {
  readonly url: string;
  readonly #breaker: CircuitBreaker;
  readonly #limit: ConcurrencyLimit;
  readonly #most: number;
  readonly #budget: ConnectionBudget;
  readonly #stall = new StallDetector();
  readonly #clog = new ClogDetector();
  #state: HealthState = "unknown";
  #wasCongested = false;
  #shutUntilMs = 0;
  #unsettled = 0;
  #runningOn = 0;
  readonly #times = new RequestTimes();
  /** The connection budget refused the URL its first request. */
  #isHeldBack = false;

  /** `rememberedLimit`: what the URL was seen to manage at an earlier time; null when nothing is known. */
  constructor(
    url: string,
    settings: UrlHealthSettings,
    budget: ConnectionBudget,
    rememberedLimit: number | null = null,
  ) {
    this.url = url;
    this.#breaker = new CircuitBreaker(settings.breaker);
    this.#limit = new ConcurrencyLimit(settings.limit, rememberedLimit ?? settings.limit.first);
    this.#most = settings.limit.most;
    this.#budget = budget;
  }

  get breaker(): Pick<CircuitBreaker, "state" | "openedMs" | "nextProbeMs"> {
    return this.#breaker;
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

  /** The end of the URL's `Retry-After`, on the monotonic clock; in the past when it sent none. */
  get shutUntilMs(): number {
    return this.#shutUntilMs;
  }

  /** Nothing is out, and nothing stands against the URL: to forget it loses only what was learnt of it. */
  isIdle(nowMs: number): boolean {
    return this.out === 0 && this.#breaker.state === "closed" && nowMs >= this.#shutUntilMs;
  }

  /** Answers come back from the URL, whatever they say. */
  get isHealthy(): boolean {
    return this.#state === "healthy";
  }

  /** UH3. */
  get isSound(): boolean {
    return this.#breaker.state === "closed" && !this.#wasCongested && !this.isStalled;
  }

  /**
   * Requests are out, and nothing came back for 200 ms, or for half as long again as they usually need if that is
   * longer.
   */
  get isQuiet(): boolean {
    return this.#isStalledFor(QUIET_MS);
  }

  /** The same with 1.5 s. */
  get isStalled(): boolean {
    return this.#isStalledFor(STALLED_MS);
  }

  /** It may be called, answers come back from it, and quickly: what waits for it waits for this process. */
  keepsUp(nowMs: number): boolean {
    if (!this.isHealthy || this.isQuiet || this.#clog.isClogged) return false;
    return this.obstacle(nowMs) === null && this.#isQuick(nowMs);
  }

  /** UH6: whether a delivery that another URL could take at once waits for this one too, behind `ahead` others. */
  isWaitedForBeside(ahead: number, nowMs: number): boolean {
    if (!this.isSound || this.isQuiet || this.#clog.isClogged) return false;
    return Math.max(this.#shutUntilMs - nowMs, this.expectedWaitMs(ahead + 1, nowMs)) < BESIDE_WAIT_MS;
  }

  /** What stands against any request now, or null. Takes no probe. */
  obstacle(nowMs: number): Obstacle | null {
    if (nowMs < this.#shutUntilMs) return this.#shutUntilMs - nowMs >= SOON_MS ? "retry_after" : "soon";
    return this.#breaker.canAdmit(nowMs) ? null : "breaker_open";
  }

  /** Whether one more request may begin for a delivery that depends on the URL. */
  hasCapacity(): boolean {
    if (this.#unsettled > 0 && this.#unsettled >= this.#limit.value) return false;
    return this.#hasBudget();
  }

  /**
   * Whether one more may begin for a delivery that another URL settles: what answers may then have more than its limit
   * (UH1).
   */
  hasCapacityBeside(): boolean {
    if (this.#state !== "healthy") return this.hasCapacity();
    return this.#unsettled < this.#most && this.#hasBudget();
  }

  /** Whether the connection budget has a connection for a last attempt (UH5). */
  hasReserve(): boolean {
    return this.#budget.allows(1, 0, this.#state);
  }

  /** Counts a request that begins. True when it is the breaker's probe. */
  take(nowMs: number): boolean {
    this.takeReserve();
    return this.#breaker.admit(nowMs) === "probe";
  }

  /** Counts a request of a last attempt, which the breaker is not asked about (UH5). */
  takeReserve(): void {
    if (this.#unsettled === 0) {
      this.#stall.reset();
      this.#isHeldBack = false;
    }
    this.#unsettled += 1;
    this.#countOut(1);
  }

  /** A request that was counted is not sent. */
  cancelled(wasProbe: boolean): void {
    this.#unsettled -= 1;
    this.#countOut(-1);
    if (wasProbe) this.#breaker.cancelProbe();
  }

  /**
   * A request's outcome is known; `ended` must follow. `blockedMs`: for so much of its time this process was blocked.
   */
  settled(outcome: RequestOutcome, { startedMs, wasProbe }: BegunRequest, nowMs: number, blockedMs = 0): void {
    this.#times.note(nowMs - startedMs, nowMs, blockedMs);
    const unsettled = this.#unsettled;
    this.#stall.reset();
    this.#clog.answered();
    const isCongested = outcome === "timed_out" || outcome === "throttled";
    if (isCongested) this.#becomeSuspect();
    else this.#becomeHealthy();
    this.#wasCongested = isCongested;
    this.#unsettled -= 1;
    this.#runningOn += 1;
    if (outcome === "delivered" || outcome === "refused") {
      if (this.#breaker.state !== "closed") this.#limit.reset();
      this.#breaker.succeeded();
      this.#limit.succeeded(unsettled, this.#times.leastMs);
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

  /** So many ms passed, and this process saw them pass. */
  passed(ms: number): void {
    if (this.#unsettled === 0) this.#clog.reset();
    else this.#clog.passed(ms, this.#unsettled, this.#times.meanMs);
    if (this.#unsettled === 0 && !this.#isHeldBack) return;
    this.#stall.passed(ms);
    if (this.#unsettled > 0 && this.isQuiet) this.#becomeSuspect();
  }

  /** The receiver sent a `Retry-After`: the URL is not called before that moment (W5). */
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
   * How long a delivery would wait behind `ahead` others: their number over the requests that end in a ms. The latter
   * is what the concurrency limit, or the connection budget, lets the URL have out at once, over the time that a
   * request needs. 0 for a URL that is quick and was not congested lately: its queue is as long as this process is
   * slow.
   */
  expectedWaitMs(ahead: number, nowMs: number): number {
    const { meanMs } = this.#times;
    if (this.#isQuick(nowMs)) return 0;
    return Math.max(this.#limit.waitMs(ahead, meanMs), (meanMs * ahead) / this.#budget.most(this.#state));
  }

  /** Its requests need little time, and it was not congested lately. */
  #isQuick(nowMs: number): boolean {
    return this.#times.meanMs < QUICK_MS && !this.#limit.wasHalved(nowMs, CONGESTION_MEMORY_MS);
  }

  #hasBudget(): boolean {
    if (this.#runningOn < this.#most && this.#budget.allows(1, this.out, this.#state)) return true;
    if (this.#unsettled === 0 && !this.#isHeldBack) {
      this.#isHeldBack = true;
      this.#stall.reset();
    }
    return false;
  }

  #isStalledFor(patienceMs: number): boolean {
    if (this.#isHeldBack && this.#state === "suspect") return true;
    return (this.#unsettled > 0 || this.#isHeldBack) && this.#stall.isStalled(patienceMs, this.#times.meanMs);
  }

  #countOut(requests: number): void {
    this.#budget.changed(requests, this.#state === "healthy" ? 0 : requests);
  }

  #becomeHealthy(): void {
    if (this.#state !== "healthy") this.#budget.changed(0, -this.out);
    this.#state = "healthy";
  }

  #becomeSuspect(): void {
    if (this.#state === "healthy") this.#budget.changed(0, this.out);
    this.#state = "suspect";
  }
}
