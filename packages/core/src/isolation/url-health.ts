/**
 * The health of one URL of a destination, as this process knows it, and how many requests the URL may have out at once
 * (rules I5 and I6 of docs/design.md).
 *
 * Owns: the URL's circuit breaker, its `Retry-After`, its concurrency limit, its stall and clog detectors, and the
 * counts of its requests. It performs nothing. A request is *unsettled* until its outcome is known, and *running on*
 * from then to its end, while the body of the answer is read.
 *
 * States: *unknown* (no outcome yet), *healthy*, *suspect*. Any outcome but a timeout or a 429 leads to healthy. A
 * timeout or a 429 leads to suspect, and so does a URL that is quiet (nothing came back for 200 ms) while requests are
 * out. `reset` leads from suspect to unknown.
 * UH1  The concurrency limit counts unsettled requests alone. Those that run on have a bound of their own,
 *      `limit.most`. An outcome is a sign of life, whatever still runs on.
 *      For the breaker a request succeeds at its end: an answer that goes over its budget after a good status is a
 *      failure.
 * UH2  An obstacle (an open breaker, a `Retry-After`) is this URL's own: it says nothing of the destination's other
 *      URLs.
 * UH3  A URL is *sound* while its breaker is closed, its last request neither timed out nor was answered 429, and it is
 *      not stalled. While one URL of a destination can take a delivery, the delivery waits for another only if that is
 *      sound.
 * UH4  The connection budget counts the URL's requests by its state (rules CB1 to CB4 of connection-budget.ts). When
 *      the budget refuses a URL that has no unsettled request, the URL counts as stalled: a `suspect` URL at once, any
 *      other after the same time as a URL from which nothing comes back.
 * UH5  A last attempt (I3), which goes whatever stands against the URL, is counted like any other.
 * UH6  Beside a URL that can take a delivery now, a delivery waits for one without capacity only while that will have
 *      some soon: it is sound, something came back within 200 ms, it is not clogged (rules CD1 and CD2 of
 *      clog-detector.ts), and the expected wait is short.
 * UH7  A URL whose answers cost much processor time is slow by that (rules YC1 and YC2 of answer-cost.ts): it has one
 *      request out, rests after each, and is waited for as long as that takes.
 * UH8  Until a request of a new URL has ended well, and from a failure to the next that ends well, no more requests are
 *      out than failures are left until the breaker opens. So it opens after as many requests as it takes failures,
 *      however long each needs to fail. A URL with a remembered limit is no new one.
 */

import { AnswerCost, UsualCost } from "./answer-cost.ts";
import { type BreakerSettings, CircuitBreaker, DEFAULT_BREAKER } from "./circuit-breaker.ts";
import { ClogDetector } from "./clog-detector.ts";
import { ConcurrencyLimit, DEFAULT_LIMIT, type LimitSettings } from "./concurrency-limit.ts";
import type { ConnectionBudget, HealthState } from "./connection-budget.ts";
import { RequestTimes } from "./request-times.ts";
import { StallDetector } from "./stall-detector.ts";

/**
 * A request's outcome, for the URL's health. `delivered`: it was answered 2xx. `refused`: it is refused for good, by a
 * receiver that is well or before it was sent. `failed`: it broke, or the receiver says that it failed. `timed_out`: no
 * answer came in time. `throttled`: it was answered 429.
 */
export type RequestOutcome = "delivered" | "refused" | "failed" | "timed_out" | "throttled";

/**
 * How a request with an outcome ended, for the URL's breaker. `well`: it was delivered or refused. `over_budget`: the
 * answer went over its budget after such an outcome. `failed`: its outcome was a failure, which the breaker counted.
 */
export type RequestEnd = "well" | "over_budget" | "failed";

/** The reason why no request may go to the URL now. `soon`: a `Retry-After` or a rest that ends within `SOON_MS`. */
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
/**
 * After this time without an answer the URL is quiet: a delivery no longer waits for it in a window that others need.
 */
const QUIET_MS = 200;
/** After this time without an answer the URL is stalled, and not sound. */
const STALLED_MS = 1500;
/** A delivery that another URL could take at once waits for this one only if it will have to for less than this. */
const BESIDE_WAIT_MS = 250;
/**
 * A receiver whose requests take less than this is quick; its `most` connections alone bring two thousand deliveries a
 * second.
 */
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
  readonly #cost: AnswerCost;
  #state: HealthState = "unknown";
  #wasCongested = false;
  /** The last request to end did so well. */
  #endsWell: boolean;
  #shutUntilMs = 0;
  #unsettled = 0;
  #runningOn = 0;
  readonly #times = new RequestTimes();
  /**
   * The URL has no unsettled request and was refused one: by the connection budget, or by a bound for requests that run
   * on.
   */
  #isHeldBack = false;

  /** `rememberedLimit`: the concurrency limit that the URL reached earlier; null when none is remembered. */
  constructor(
    url: string,
    settings: UrlHealthSettings,
    budget: ConnectionBudget,
    rememberedLimit: number | null = null,
    usualCost = new UsualCost(),
  ) {
    this.url = url;
    this.#breaker = new CircuitBreaker(settings.breaker);
    this.#limit = new ConcurrencyLimit(settings.limit, rememberedLimit ?? settings.limit.first);
    this.#most = settings.limit.most;
    this.#budget = budget;
    this.#cost = new AnswerCost(usualCost);
    this.#endsWell = rememberedLimit !== null;
  }

  get breaker(): Pick<CircuitBreaker, "state" | "openedMs" | "nextProbeMs"> {
    return this.#breaker;
  }

  /** How many requests are without an outcome. */
  get unsettled(): number {
    return this.#unsettled;
  }

  /** How many requests have not ended. */
  get out(): number {
    return this.#unsettled + this.#runningOn;
  }

  /** How many requests may be unsettled at once. */
  get limit(): number {
    return this.#limit.value;
  }

  /** The end of the URL's `Retry-After`, on the monotonic clock; in the past when it sent none. */
  get shutUntilMs(): number {
    return this.#shutUntilMs;
  }

  /** No request is out, and no obstacle stands against the URL: forgetting it loses only learnt state. */
  isIdle(nowMs: number): boolean {
    return this.out === 0 && this.#breaker.state === "closed" && nowMs >= this.#shutUntilMs;
  }

  /** Whether requests to the URL get an outcome in time, whatever it is, but for a 429. */
  get isHealthy(): boolean {
    return this.#state === "healthy";
  }

  /** UH3. */
  get isSound(): boolean {
    return this.#breaker.state === "closed" && !this.#wasCongested && !this.isStalled;
  }

  /**
   * Whether requests are out and no answer came for 200 ms, or for one and a half times their usual duration if that is
   * longer.
   */
  get isQuiet(): boolean {
    return this.#isStalledFor(QUIET_MS);
  }

  /** As `isQuiet`, with 1.5 s. */
  get isStalled(): boolean {
    return this.#isStalledFor(STALLED_MS);
  }

  /** Whether the URL may be called and answers quickly, so that whatever waits for it waits for this process. */
  keepsUp(nowMs: number): boolean {
    if (!this.isHealthy || this.isQuiet || this.#clog.isClogged) return false;
    return this.obstacle(nowMs) === null && this.#isQuick(nowMs);
  }

  /**
   * UH6: whether a delivery that another URL could take now waits for this one too, behind `ahead` other deliveries.
   */
  isWaitedForBeside(ahead: number, nowMs: number): boolean {
    if (!this.isSound || this.isQuiet || this.#clog.isClogged) return false;
    return Math.max(this.#shutUntilMs - nowMs, this.expectedWaitMs(ahead + 1, nowMs)) < BESIDE_WAIT_MS;
  }

  /** The obstacle to any request now, or null. Asking takes no probe. */
  obstacle(nowMs: number): Obstacle | null {
    if (nowMs < this.#shutUntilMs) return this.#shutUntilMs - nowMs >= SOON_MS ? "retry_after" : "soon";
    if (!this.#breaker.canAdmit(nowMs)) return "breaker_open";
    return this.#cost.isResting(nowMs) ? "soon" : null;
  }

  /** Whether one more request may begin for a delivery that depends on the URL. */
  hasCapacity(): boolean {
    if (this.#unsettled > 0 && this.#unsettled >= this.#limit.value) return false;
    if (this.out > 0 && this.#cost.isDear) return false;
    return this.#hasBudget();
  }

  /**
   * Whether one more request may begin for a delivery that another URL can take: a healthy URL then gets more than its
   * concurrency limit, up to `limit.most` (UC1 of url-choice.ts).
   */
  hasCapacityBeside(): boolean {
    if (this.#state !== "healthy" || this.#cost.isDear) return this.hasCapacity();
    return this.#unsettled < this.#most && this.#hasBudget();
  }

  /** Whether the connection budget lets a last attempt begin a request (UH5). */
  canTakeLast(): boolean {
    return this.#budget.allows(1, 0, this.#state);
  }

  /** Counts a request that begins. True when it is the probe of the breaker. */
  take(nowMs: number): boolean {
    this.takeLast();
    return this.#breaker.admit(nowMs) === "probe";
  }

  /** Counts a request of a last attempt, which the breaker is not asked about (UH5). */
  takeLast(): void {
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

  /** A request has its outcome; `ended` must follow. For `blockedMs` of its time this process was blocked. */
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
      this.#limit.succeeded(unsettled, this.#times.leastMs);
      return;
    }
    this.#breaker.failed(nowMs, wasProbe);
    if (isCongested) this.#limit.congested(startedMs, nowMs);
  }

  /** A request with an outcome has ended. Its answer cost this process `answerMs` of processor time. */
  ended(end: RequestEnd, wasProbe: boolean, nowMs: number, answerMs = 0): void {
    this.#cost.note(answerMs, nowMs);
    this.#runningOn -= 1;
    this.#countOut(-1);
    this.#endsWell = end === "well";
    if (end === "over_budget") this.#breaker.failed(nowMs, wasProbe);
    if (end !== "well") return;
    if (this.#breaker.state !== "closed") this.#limit.reset();
    this.#breaker.succeeded();
  }

  /** `ms` passed in which this process was not blocked. */
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

  /** The destination was changed, which may have mended whatever is known against the URL. */
  reset(): void {
    if (this.#state === "suspect") this.#state = "unknown";
    this.#wasCongested = false;
    if (this.#breaker.state === "closed" && this.#shutUntilMs === 0) return;
    this.#breaker.succeeded();
    this.#limit.reset();
    this.#shutUntilMs = 0;
  }

  /**
   * How long a delivery would wait behind `ahead` others: their number over the requests that end in a millisecond.
   * Those are the requests that the concurrency limit, or the connection budget, lets the URL have out at once, over
   * the time that one needs. 0 for a quick URL that met no congestion lately: its queue is as long as this process is
   * slow.
   */
  expectedWaitMs(ahead: number, nowMs: number): number {
    const { meanMs } = this.#times;
    if (this.#isQuick(nowMs)) return 0;
    const byBudgetMs = (meanMs * ahead) / this.#budget.most(this.#state);
    return Math.max(this.#limit.waitMs(ahead, meanMs), byBudgetMs, this.#cost.turnMs * ahead);
  }

  /** Whether its requests need little time of either process, and met no congestion lately. */
  #isQuick(nowMs: number): boolean {
    if (this.#cost.isDear) return false;
    return this.#times.meanMs < QUICK_MS && !this.#limit.wasHalved(nowMs, CONGESTION_MEMORY_MS);
  }

  #hasBudget(): boolean {
    const mayFail = this.#endsWell || this.out < this.#breaker.failuresLeft;
    if (mayFail && this.#runningOn < this.#most && this.#budget.allows(1, this.out, this.#state)) return true;
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
