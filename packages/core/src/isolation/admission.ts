/**
 * The admission of one destination's deliveries in one process (rules I1 to I6 of docs/design.md): which deliveries go
 * now, which wait in the window, and which are deferred to a retry topic, so that a bad destination harms no other.
 *
 * Owns: the health of each URL, the queue of the deliveries that wait for it, the destination's rate, and the last
 * attempts that wait. It sends and publishes nothing itself.
 * AD1  A delivery goes when no obstacle stands against its URLs, each has capacity, and the rate allows it. Which of
 *      its URLs it goes to is decided in url-choice.ts (UC1, UC2).
 * AD2  Without capacity a delivery waits in the window. It is deferred when it would wait longer than the smallest
 *      retry delay: a deferral then costs the delivery itself less than the wait. While no other destination is active,
 *      lack of capacity alone defers nothing (AD3 aside).
 * AD3  Where a window is filling, a delivery that waits keeps others out. There it is deferred when its URL is stalled;
 *      when its URL is quiet and either the destination crowds the full window or other destinations get deliveries
 *      through; and, in a window that the destination crowds, when it would wait for 200 ms or longer.
 * AD4  When the wait has become too long, deliveries are deferred from the end of the queue. When the URL's breaker
 *      opened or its receiver sent a `Retry-After` that does not end soon, all of its queue are.
 * AD5  A last attempt (I3) goes whatever stands against its URLs, but for the rate and the connection budget.
 */
import type { SettleRule } from "../config/destination.ts";
import { UsualCost } from "./answer-cost.ts";
import type { ConnectionBudget } from "./connection-budget.ts";
import { DestinationRate } from "./destination-rate.ts";
import { LastAttempts } from "./last-attempts.ts";
import { LateQueueDiversion } from "./late-queue-diversion.ts";
import { type ContextOf, causeToDefer, isShortWait, type LoadContext, stallCause } from "./load-context.ts";
import { type AdmissionRequest, type DeferralCause, Permit, type UrlLine } from "./permit.ts";
import type { RememberedLimitOf } from "./remembered-limits.ts";
import { isSoundNow, lastingObstacle, UrlChooser } from "./url-choice.ts";
import { UrlHealth, type UrlHealthSettings } from "./url-health.ts";
import { WaitingQueue } from "./waiting-queue.ts";

export interface AdmissionSettings extends UrlHealthSettings {
  /** The smallest retry delay: a delivery that would wait longer in the window is deferred. */
  readonly longestWaitMs: number;
}

/** The most deliveries that one call moves from a URL's queue to another's; the next call goes on. */
const MOST_MOVES = 16;
/** A destination is held up by its rate when a delivery would wait for this long for it. */
const HELD_UP_MS = 200;

export class DestinationAdmission<T extends AdmissionRequest> {
  readonly #settings: AdmissionSettings;
  readonly #budget: ConnectionBudget;
  readonly #rememberedLimitOf: RememberedLimitOf;
  readonly #usualCost: UsualCost;
  readonly #rate = new DestinationRate();
  readonly #last: LastAttempts<T>;
  #lines: readonly UrlLine<T>[] = [];
  #settle: SettleRule = "any";
  #chooser = new UrlChooser<T>(this.#settle, this.#rate);
  /** Used under `settle: each` alone. */
  readonly #diversion = new LateQueueDiversion<T>();
  /** How many requests the deliveries in the URLs' queues will make. */
  #queuedRequests = 0;
  /** The URL whose queue is asked first for the next delivery. */
  #firstLine = 0;

  constructor(
    settings: AdmissionSettings,
    budget: ConnectionBudget,
    rememberedLimitOf: RememberedLimitOf = () => null,
    usualCost = new UsualCost(),
  ) {
    this.#settings = settings;
    this.#budget = budget;
    this.#rememberedLimitOf = rememberedLimitOf;
    this.#usualCost = usualCost;
    this.#last = new LastAttempts(this.#rate, settings.longestWaitMs);
  }

  /** The health of each URL, in the destination's order. */
  get urls(): readonly UrlHealth[] {
    return this.#lines.map(({ health }) => health);
  }

  /** How many deliveries wait. */
  get waiting(): number {
    let waiting = this.#last.length;
    for (const { queue } of this.#lines) waiting += queue.length;
    return waiting;
  }

  /** Whether a request to any of the URLs is without an outcome. */
  get hasUnsettled(): boolean {
    return this.#lines.some(({ health }) => health.unsettled > 0);
  }

  /** No request is out and no delivery waits: forgetting the destination loses only learnt state. */
  get isEmpty(): boolean {
    return this.waiting === 0 && this.#lines.every(({ health }) => health.out === 0);
  }

  /** True when no obstacle stands against the destination either. */
  isIdle(nowMs: number): boolean {
    return this.waiting === 0 && this.#lines.every(({ health }) => health.isIdle(nowMs));
  }

  /**
   * Follows a change of the destination, which may have mended whatever stood against its URLs, so that is forgotten.
   * Returns the deliveries that waited; the caller asks for their admission again.
   */
  configure(urls: readonly string[], settle: SettleRule): readonly T[] {
    const queued = this.#lines.flatMap(({ queue }) => queue.drain());
    const waited = [...this.#last.drain(), ...this.#diversion.drain(), ...queued];
    this.#queuedRequests = 0;
    this.#settle = settle;
    this.#chooser = new UrlChooser(settle, this.#rate);
    this.#lines = urls.map((url) => this.#lineOf(url));
    return waited.map(({ request }) => request);
  }

  /** Sets the destination's rate; null for none. Cheap when nothing changed. */
  setRate(perSecond: number | null, nowMs: number): void {
    this.#rate.set(perSecond, nowMs);
  }

  /**
   * Decides on a delivery that arrives. Null when the delivery waits: `next` or `overdue` answers its permit later.
   * Otherwise its permit, given or refused. For each URL of a permit that is given, `settled` and `ended` must follow.
   */
  admit(request: T, nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    return this.#admit(new Permit(request, this.#owedLines(request.owed)), nowMs, contextOf);
  }

  /** Decides on a last attempt in the same way (AD5); "full" when it should come again later. */
  admitLast(request: T, nowMs: number): Permit<T> | "full" | null {
    const permit = new Permit(request, this.#owedLines(request.owed), true);
    const arrival = this.#last.arrive(permit, nowMs);
    if (arrival === "goes") return this.#give(permit, permit.lines, nowMs);
    return arrival === "full" ? arrival : null;
  }

  /** The permit of the next delivery that need not wait any longer, given or refused; null when all go on waiting. */
  next(nowMs: number): Permit<T> | null {
    const last = this.#last.next(nowMs);
    if (last !== null) return this.#give(last, last.lines, nowMs);
    const { length } = this.#lines;
    for (let index = 0; index < length; index += 1) {
      const line = this.#lines[(this.#firstLine + index) % length];
      const permit = line === undefined || line.queue.length === 0 ? null : this.#nextOf(line, nowMs);
      if (permit === null) continue;
      this.#firstLine = (this.#firstLine + index + 1) % length;
      return permit;
    }
    return null;
  }

  /**
   * The permit of a delivery that must not wait any longer (AD4): given for other URLs, or refused. Null when all may
   * wait.
   */
  overdue(nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    if (this.#settle === "each" && this.#diversion.isDue(nowMs) && this.#rate.allows(nowMs)) {
      this.#queuedRequests -= this.#diversion.divert(this.#lines, nowMs);
    }
    for (let permit = this.#diversion.next(); permit !== undefined; permit = this.#diversion.next()) {
      const decided = this.#admit(permit, nowMs, contextOf);
      if (decided !== null) return decided;
    }
    for (const line of this.#lines) {
      for (let permit = line.queue.peekLast(); permit !== undefined; permit = line.queue.peekLast()) {
        const obstacle = lastingObstacle(line.health.obstacle(nowMs));
        const cause = obstacle ?? this.#causeToDefer(permit, line, line.queue.length - 1, nowMs, contextOf);
        if (cause === null) break;
        line.queue.pop();
        this.#queuedRequests -= permit.lines.length;
        // Another URL may serve the delivery, or the rest of it; otherwise there is nothing that it could wait for.
        const isRoutedPast = obstacle !== null && this.#settle === "any" && permit.lines.length > 1;
        const goesOn = isRoutedPast || this.#goesOn(permit, line, cause, nowMs);
        const decided = goesOn ? this.#admit(permit, nowMs, contextOf) : this.#refuse(permit, cause);
        if (decided !== null) return decided;
      }
    }
    return null;
  }

  /** Takes back a permit whose requests are not sent. */
  cancelled(permit: Permit<T>): void {
    for (const [index, { health }] of permit.lines.entries()) health.cancelled(permit.wasProbe(index));
    this.#rate.giveBack(permit.lines.length);
  }

  /** Whether deliveries wait for the receiver or for the rate, rather than for this process. */
  isHeldUp(nowMs: number): boolean {
    if (this.#rate.waitMs(this.#queuedRequests + this.#last.requests, nowMs) >= HELD_UP_MS) return true;
    return this.#lines.some(({ health }) => !health.keepsUp(nowMs));
  }

  /**
   * Why a delivery of the destination is deferred as soon as it arrives: nothing comes back from any of the
   * destination's URLs. Null when the delivery may be served.
   */
  deferralOnArrival(context: LoadContext): DeferralCause | null {
    let cause: DeferralCause | null = null;
    for (const { health } of this.#lines) {
      cause = stallCause(health, context);
      if (cause === null) return null;
    }
    return cause;
  }

  /** Tells the URLs' detectors that `ms` passed in which this process was not blocked. */
  passed(ms: number): void {
    for (const { health } of this.#lines) health.passed(ms);
  }

  #lineOf(url: string): UrlLine<T> {
    const known = this.#lines.find(({ health }) => health.url === url);
    if (known !== undefined) {
      known.health.reset();
      return known;
    }
    const remembered = this.#rememberedLimitOf(url);
    const health = new UrlHealth(url, this.#settings, this.#budget, remembered, this.#usualCost);
    return { health, queue: new WaitingQueue() };
  }

  #owedLines(owed: readonly string[] | null): readonly UrlLine<T>[] {
    return owed === null ? this.#lines : this.#lines.filter(({ health }) => owed.includes(health.url));
  }

  #admit(permit: Permit<T>, nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    for (;;) {
      const line = this.#decide(permit, nowMs, false);
      if (line === null) return permit;
      const cause = this.#causeToDefer(permit, line, line.queue.ahead(permit.isRetry), nowMs, contextOf);
      if (cause === null) {
        line.queue.push(permit);
        this.#queuedRequests += permit.lines.length;
        return null;
      }
      if (!this.#goesOn(permit, line, cause, nowMs)) return this.#refuse(permit, cause);
    }
  }

  /**
   * Leaves out a URL that a delivery must not wait for, where other URLs may still serve it: under `settle: any` only
   * sound ones. False when none may.
   */
  #goesOn(permit: Permit<T>, line: UrlLine<T>, cause: DeferralCause, nowMs: number): boolean {
    if (permit.lines.length === 1) return false;
    if (this.#settle === "each") {
      permit.leaveOut(line, cause);
      return true;
    }
    const others = permit.lines.filter((each) => each !== line && isSoundNow(each, nowMs));
    if (others.length === 0) return false;
    permit.lines = others;
    return true;
  }

  /** Gives or refuses a permit and answers null, or answers the URL that its delivery waits for. */
  #decide(permit: Permit<T>, nowMs: number, isHead: boolean): UrlLine<T> | null {
    const choice = this.#chooser.choose(permit, nowMs, isHead);
    if (typeof choice === "string") this.#refuse(permit, choice);
    else if ("health" in choice) return choice;
    else if (choice.length > 0) this.#give(permit, choice, nowMs);
    return null;
  }

  #nextOf(line: UrlLine<T>, nowMs: number): Permit<T> | null {
    for (let moves = 0; moves < MOST_MOVES; moves += 1) {
      const permit = line.queue.peek();
      if (permit === undefined) return null;
      const { length } = permit.lines;
      const waitsFor = this.#decide(permit, nowMs, true);
      if (waitsFor === line) {
        // Some of the delivery's URLs may have been skipped.
        this.#queuedRequests += permit.lines.length - length;
        return null;
      }
      line.queue.shift();
      this.#queuedRequests -= length;
      if (waitsFor === null) return permit;
      waitsFor.queue.push(permit);
      this.#queuedRequests += permit.lines.length;
    }
    return null;
  }

  #give(permit: Permit<T>, lines: readonly UrlLine<T>[], nowMs: number): Permit<T> {
    permit.give(lines, nowMs);
    this.#rate.take(lines.length, nowMs);
    return permit;
  }

  #refuse(permit: Permit<T>, cause: DeferralCause): Permit<T> {
    const owed = this.#settle === "any" ? this.#owedLines(permit.request.owed) : permit.lines;
    if (owed.length === permit.lines.length) permit.refuse(cause);
    else {
      // A URL that was skipped may serve the delivery when it comes again, whatever `Retry-After` the last one that
      // was left sent.
      permit.lines = owed;
      permit.refuse(cause === "retry_after" ? "concurrency_limit" : cause);
    }
    return permit;
  }

  /** Why a delivery must not wait for the URL behind `ahead` others (AD2, AD3); null when it may. */
  #causeToDefer(
    permit: Permit<T>,
    { health }: UrlLine<T>,
    ahead: number,
    nowMs: number,
    contextOf: ContextOf<T>,
  ): DeferralCause | null {
    const byRateMs = this.#rate.waitMs(this.#queuedRequests + this.#last.requests, nowMs);
    const waitMs = Math.max(byRateMs, health.expectedWaitMs(ahead, nowMs));
    if (isShortWait(health, waitMs)) return null;
    const { longestWaitMs } = this.#settings;
    return causeToDefer(health, contextOf(permit.request), { waitMs, longestWaitMs });
  }
}
