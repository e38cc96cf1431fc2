/**
 * The admission of one destination's deliveries in one process, so that one bad destination harms nobody else (rules I1
 * to I6 of docs/design.md): which go now, which wait in the window, and which are deferred to a retry topic.
 *
 * Owns: the health of each URL, the queue of the deliveries that wait for it, the destination's rate and the last
 * attempts that wait for it. Performs nothing.
 * AD1  A delivery goes when no obstacle stands against its URLs, each has capacity, and the rate lets it. Which of its
 *      URLs it goes to is decided in url-choice.ts (UC1, UC2).
 * AD2  Without capacity a delivery waits in the window. It is deferred when the wait would be longer than the smallest
 *      retry delay: then waiting costs the delivery itself more. While no other destination is active it is not
 *      deferred for want of capacity.
 * AD3  In a window that fills, other deliveries stand behind the one that waits: there it is deferred when its URL
 *      stalls and, where the window is full and the destination holds most of it, from 200 ms of expected wait on.
 * AD4  Of the deliveries that wait, the newest is deferred first when the wait became too long; all of them are
 *      deferred when the breaker opened or the receiver sent a `Retry-After`.
 * AD5  A last attempt (I3) goes whatever stands against its URLs but for the rate and the connection budget.
 */
import type { SettleRule } from "../config/destination.ts";
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
  /** The smallest retry delay: what would wait longer in the window is deferred. */
  readonly longestWaitMs: number;
}

/** So many deliveries may change from one URL's queue to another's before the queues are looked at again later. */
const MOST_MOVES = 16;
/** Deliveries that wait for so long for the rate are held up by it. */
const HELD_UP_MS = 200;

export class DestinationAdmission<T extends AdmissionRequest> {
  readonly #settings: AdmissionSettings;
  readonly #budget: ConnectionBudget;
  readonly #rememberedLimitOf: RememberedLimitOf;
  readonly #rate = new DestinationRate();
  readonly #last: LastAttempts<T>;
  #lines: readonly UrlLine<T>[] = [];
  #settle: SettleRule = "any";
  #chooser = new UrlChooser<T>(this.#settle, this.#rate);
  /** Of use under `settle: each` alone. */
  readonly #diversion = new LateQueueDiversion<T>();
  /** Requests of the deliveries in the URLs' queues. */
  #queuedRequests = 0;
  /** The URL whose queue is asked first for the next delivery. */
  #firstLine = 0;

  constructor(
    settings: AdmissionSettings,
    budget: ConnectionBudget,
    rememberedLimitOf: RememberedLimitOf = () => null,
  ) {
    this.#settings = settings;
    this.#budget = budget;
    this.#rememberedLimitOf = rememberedLimitOf;
    this.#last = new LastAttempts(this.#rate, settings.longestWaitMs);
  }

  /** The health of each URL, in the destination's order. */
  get urls(): readonly UrlHealth[] {
    return this.#lines.map(({ health }) => health);
  }

  /** Deliveries that wait. */
  get waiting(): number {
    let waiting = this.#last.length;
    for (const { queue } of this.#lines) waiting += queue.length;
    return waiting;
  }

  /** Requests are out to some URL that have no outcome yet. */
  get hasUnsettled(): boolean {
    return this.#lines.some(({ health }) => health.unsettled > 0);
  }

  /** Nothing is out and nothing waits: to forget the destination then loses only what was learnt of it. */
  get isEmpty(): boolean {
    return this.waiting === 0 && this.#lines.every(({ health }) => health.out === 0);
  }

  /** True when no obstacle stands against the destination either. */
  isIdle(nowMs: number): boolean {
    return this.waiting === 0 && this.#lines.every(({ health }) => health.isIdle(nowMs));
  }

  /**
   * Follows a change of the destination. Whatever stood against its URLs may be mended, so it is forgotten. Answers the
   * deliveries that waited: the caller asks for their admission again.
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
   * Decides on a delivery that arrives. Null when the delivery waits: `next` or `overdue` will answer its permit.
   * Otherwise its permit, which is refused, or given: then `settled` and `ended` of its URLs must follow.
   */
  admit(request: T, nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    return this.#admit(new Permit(request, this.#owedLines(request.owed)), nowMs, contextOf);
  }

  /** The same for a last attempt (AD5); "full" when it should come again later. */
  admitLast(request: T, nowMs: number): Permit<T> | "full" | null {
    const permit = new Permit(request, this.#owedLines(request.owed), true);
    const arrival = this.#last.arrive(permit, nowMs);
    if (arrival === "goes") return this.#give(permit, permit.lines, nowMs);
    return arrival === "full" ? arrival : null;
  }

  /** The permit, given or refused, of the next delivery that waited and waits no more; null when all go on waiting. */
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
   * A delivery that waited and must not any longer (AD4): its permit is given for other URLs, or refused. Null when all
   * may wait.
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

  /** A permit is given back: nothing was sent. */
  cancelled(permit: Permit<T>): void {
    for (const [index, { health }] of permit.lines.entries()) health.cancelled(permit.wasProbe(index));
    this.#rate.giveBack(permit.lines.length);
  }

  /** Whether deliveries wait for the receiver, or for the rate, and not for this process. */
  isHeldUp(nowMs: number): boolean {
    if (this.#rate.waitMs(this.#queuedRequests + this.#last.requests, nowMs) >= HELD_UP_MS) return true;
    return this.#lines.some(({ health }) => !health.keepsUp(nowMs));
  }

  /**
   * Why a delivery of the destination is deferred at its arrival, before it is looked at: nothing comes back from any
   * of the destination's URLs. Null when it may be served.
   */
  deferralOnArrival(context: LoadContext): DeferralCause | null {
    let cause: DeferralCause | null = null;
    for (const { health } of this.#lines) {
      cause = stallCause(health, context);
      if (cause === null) return null;
    }
    return cause;
  }

  /** So many ms passed, and this process saw them pass. */
  passed(ms: number): void {
    for (const { health } of this.#lines) health.passed(ms);
  }

  #lineOf(url: string): UrlLine<T> {
    const known = this.#lines.find(({ health }) => health.url === url);
    if (known !== undefined) {
      known.health.reset();
      return known;
    }
    const health = new UrlHealth(url, this.#settings, this.#budget, this.#rememberedLimitOf(url));
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
   * Whether other URLs may serve a delivery that must not wait for this one, which is then left out: under `any`, sound
   * ones.
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

  /** Gives or refuses a permit and answers null, or answers the URL that the delivery waits for. */
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
        // Some of the delivery's URLs may have been left out.
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
      // A URL that was left out may serve the delivery when it comes again, whatever `Retry-After` the last one that
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
