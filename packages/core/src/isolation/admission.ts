/**
 * The admission of one destination's deliveries in one process, so that one bad destination harms nobody else (rules I1 to
 * I6): which go now and to which URLs, which wait in the window, and which are deferred to a retry topic.
 *
 * Owns: the health of each URL, the queue of what waits for it, the destination's rate and the last attempts that wait for it.
 * Performs nothing.
 * G1  A delivery goes when nothing stands against its URLs, each has room, and the rate lets it.
 * G2  Without room it waits in the window. It is deferred when the wait would be longer than the smallest retry delay: then
 *     waiting costs the delivery itself more. While no other destination is about it is not deferred for want of room.
 * G3  In a window that fills, others stand behind what waits: there a delivery is deferred for a URL that stalls, and, where the
 *     window is full and the destination holds most of it, from `CROWDED_WAIT_MS` of expected wait on.
 * G4  What waits is deferred newest first when its wait became too long, and all of it when the breaker opened or the receiver
 *     asked for peace.
 * G5  Under `settle: any` a delivery goes when one sound URL can take it. Sound URLs are waited for, unless they are known to
 *     answer and have `most` requests out; one that is not sound is called beside the others while it has room, or left out.
 *     One that must not be waited for any longer is left out where another one is sound.
 * G6  Under `settle: each` a URL with an obstacle, or that is not sound and has no room, is left out and deferred apart, as long as
 *     another is sound; so is one without room whose turn does not come soon (rule U6), where another can take the delivery now.
 *     A breaker's probe is then left to a delivery that owes that URL alone, since a probe that hangs holds up the deliveries
 *     behind it.
 * G7  A last attempt (I3) goes whatever stands against its URLs but for the rate and the room that all share.
 */
import Denque from "denque";
import type { SettleRule } from "../config/destination.ts";
import type { ConnectionBudget } from "./connection-budget.ts";
import { type AdmissionRequest, type DeferralCause, Permit, type UrlLine } from "./permit.ts";
import { TokenBucket } from "./token-bucket.ts";
import { type Obstacle, UrlHealth, type UrlHealthSettings } from "./url-health.ts";
import { WaitingQueue } from "./waiting-queue.ts";

/** What is around the destination. */
export interface LoadContext {
  /** No other destination was active lately. */
  readonly isAlone: boolean;
  /** The delivery's window has room for few more. */
  readonly isFilling: boolean;
  /** It is full and the destination holds most of it. */
  readonly isCrowding: boolean;
  /** It fills, and other destinations do get through. */
  readonly isScarce: boolean;
}

/** Looks around for a delivery; asked only of those that must wait for long. */
export type ContextOf<T> = (request: T) => LoadContext;

export interface AdmissionSettings extends UrlHealthSettings {
  /** The smallest retry delay: what would wait longer in the window is deferred. */
  readonly longestWaitMs: number;
}

/** What a URL was seen to manage at an earlier time; null when nothing is known. */
export type RememberedLimitOf = (url: string) => number | null;

/** In a window that is full others wait too: less patience there. */
const CROWDED_WAIT_MS = 200;
/** What waits for a URL that is not worth it is looked through no more often than this. */
const DIVERT_EACH_MS = 20;
/** So many deliveries may change from one URL's queue to another's before what waits is looked at again later. */
const MOST_MOVES = 16;

export class DestinationAdmission<T extends AdmissionRequest> {
  readonly #settings: AdmissionSettings;
  readonly #shared: ConnectionBudget;
  readonly #rememberedLimitOf: RememberedLimitOf;
  #lines: readonly UrlLine<T>[] = [];
  #settle: SettleRule = "any";
  #rate: TokenBucket | null = null;
  /** Last attempts that wait for the rate. */
  readonly #last = new Denque<Permit<T>>();
  #lastRequests = 0;
  /** Under `settle: each`: taken out of a URL's queue, to be judged at once. */
  readonly #diverted = new Denque<Permit<T>>();
  #divertedMs = Number.NEGATIVE_INFINITY;
  #waitingRequests = 0;
  #firstLine = 0;

  constructor(
    settings: AdmissionSettings,
    shared: ConnectionBudget,
    rememberedLimitOf: RememberedLimitOf = () => null,
  ) {
    this.#settings = settings;
    this.#shared = shared;
    this.#rememberedLimitOf = rememberedLimitOf;
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

  /** Nothing is out and nothing waits: to forget it then loses only what was learnt of the destination. */
  get isEmpty(): boolean {
    return this.waiting === 0 && this.#lines.every(({ health }) => health.out === 0);
  }

  /** True when nothing stands against the destination either. */
  isIdle(nowMs: number): boolean {
    return this.waiting === 0 && this.#lines.every(({ health }) => health.isIdle(nowMs));
  }

  /**
   * Follows a change of the destination: what is known against its URLs may be mended, and is forgotten. Answers what waited:
   * it is to be judged again.
   */
  configure(urls: readonly string[], settle: SettleRule): readonly T[] {
    const queued = this.#lines.flatMap(({ queue }) => queue.drain());
    const waited = [...this.#last.toArray(), ...this.#diverted.toArray(), ...queued];
    this.#last.clear();
    this.#diverted.clear();
    this.#lastRequests = 0;
    this.#waitingRequests = 0;
    this.#settle = settle;
    this.#lines = urls.map((url) => this.#lineOf(url));
    return waited.map(({ request }) => request);
  }

  /** Sets the destination's rate; null for none. Cheap when nothing changed. */
  setRate(perSecond: number | null, nowMs: number): void {
    if (perSecond === (this.#rate?.perSecond ?? null)) return;
    if (perSecond === null) this.#rate = null;
    else if (this.#rate === null) this.#rate = new TokenBucket(perSecond, nowMs);
    else this.#rate.change(perSecond, nowMs);
  }

  /**
   * Decides on a delivery that arrives: null when it waits, and `next` or `overdue` will give it out. Else its permit, which is
   * given, so that `settled` and `ended` of its URLs must follow, or refused.
   */
  admit(request: T, nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    return this.#admit(new Permit(request, this.#owedLines(request.owed)), nowMs, contextOf);
  }

  /** The same for a last attempt (G7); "full" when it should come again later. */
  admitLast(request: T, nowMs: number): Permit<T> | "full" | null {
    const permit = new Permit(request, this.#owedLines(request.owed), true);
    if (!permit.lines.every(({ health }) => health.hasReserve())) return "full";
    if (this.#last.length === 0 && this.#hasRate(nowMs)) return this.#give(permit, permit.lines, nowMs);
    // They go before all that waits in queues, so only other last attempts are ahead of it.
    const waitMs = this.#rate?.waitMs(this.#lastRequests, nowMs) ?? 0;
    if (waitMs >= this.#settings.longestWaitMs) return "full";
    this.#last.push(permit);
    this.#lastRequests += permit.lines.length;
    this.#waitingRequests += permit.lines.length;
    return null;
  }

  /** The next delivery that waited and waits no more: its permit is given or refused. Null when all that wait go on. */
  next(nowMs: number): Permit<T> | null {
    const last = this.#nextLast(nowMs);
    if (last !== null) return last;
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

  /** A delivery that waited and must not any longer (G4): its permit is given by another way, or refused. Null when all may. */
  overdue(nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    if (this.#settle === "each") this.#divert(nowMs);
    for (let permit = this.#diverted.shift(); permit !== undefined; permit = this.#diverted.shift()) {
      const decided = this.#admit(permit, nowMs, contextOf);
      if (decided !== null) return decided;
    }
    for (const line of this.#lines) {
      for (let permit = line.queue.peekLast(); permit !== undefined; permit = line.queue.peekLast()) {
        const obstacle = hardObstacle(line.health.obstacle(nowMs));
        const cause = obstacle ?? this.#tooLong(permit, line, line.queue.length - 1, nowMs, contextOf);
        if (cause === null) break;
        line.queue.pop();
        this.#waitingRequests -= permit.lines.length;
        // Another URL may serve it, or the rest of it; else there is nothing that it could wait for.
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
    this.#rate?.giveBack(permit.lines.length);
  }

  /**
   * Why a delivery that arrives need not wait for its turn to be deferred: nothing comes back from any of the destination's
   * URLs. Null when it may be served.
   */
  turnsAway(context: LoadContext): DeferralCause | null {
    let cause: DeferralCause | null = null;
    for (const { health } of this.#lines) {
      cause = turnsAway(health, context);
      if (cause === null) return null;
    }
    return cause;
  }

  /** Time passed, and this process saw it pass. */
  passed(ms: number): void {
    for (const { health } of this.#lines) health.passed(ms);
  }

  #lineOf(url: string): UrlLine<T> {
    const known = this.#lines.find(({ health }) => health.url === url);
    if (known !== undefined) {
      known.health.reset();
      return known;
    }
    const health = new UrlHealth(url, this.#settings, this.#shared, this.#rememberedLimitOf(url));
    return { health, queue: new WaitingQueue() };
  }

  #owedLines(owed: readonly string[] | null): readonly UrlLine<T>[] {
    return owed === null ? this.#lines : this.#lines.filter(({ health }) => owed.includes(health.url));
  }

  #admit(permit: Permit<T>, nowMs: number, contextOf: ContextOf<T>): Permit<T> | null {
    for (;;) {
      const line = this.#route(permit, nowMs, false);
      if (line === null) return permit;
      const cause = this.#tooLong(permit, line, line.queue.ahead(permit.isRetry), nowMs, contextOf);
      if (cause === null) {
        line.queue.push(permit);
        this.#waitingRequests += permit.lines.length;
        return null;
      }
      if (!this.#goesOn(permit, line, cause, nowMs)) return this.#refuse(permit, cause);
    }
  }

  /** Whether other URLs may serve a delivery that must not wait for this one, which is left out then: sound ones, under `any`. */
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

  /** Decides a permit, or answers the URL that it waits for. `isHead`: nobody stands before it. */
  #route(permit: Permit<T>, nowMs: number, isHead: boolean): UrlLine<T> | null {
    const [only] = permit.lines;
    if (only !== undefined && permit.lines.length === 1) return this.#routeOne(permit, only, nowMs, isHead);
    return this.#settle === "any" ? this.#routeAny(permit, nowMs, isHead) : this.#routeEach(permit, nowMs, isHead);
  }

  #routeOne(permit: Permit<T>, line: UrlLine<T>, nowMs: number, isHead: boolean): UrlLine<T> | null {
    const obstacle = line.health.obstacle(nowMs);
    if (obstacle === "breaker_open" || obstacle === "retry_after") {
      this.#refuse(permit, obstacle);
      return null;
    }
    const isFree = obstacle === null && (isHead || line.queue.length === 0);
    if (!isFree || !this.#hasRate(nowMs) || !line.health.hasCapacity()) return line;
    this.#give(permit, permit.lines, nowMs);
    return null;
  }

  /** G5. */
  #routeAny(permit: Permit<T>, nowMs: number, isHead: boolean): UrlLine<T> | null {
    const usable = permit.lines.filter(({ health }) => hardObstacle(health.obstacle(nowMs)) === null);
    if (usable.length === 0) {
      const isAsked = permit.lines.every(({ health }) => health.obstacle(nowMs) === "retry_after");
      this.#refuse(permit, isAsked ? "retry_after" : "breaker_open");
      return null;
    }
    const sound = usable.filter(({ health }) => health.isSound);
    const candidates = sound.length > 0 ? sound : usable;
    const canLead = ({ health, queue }: UrlLine<T>) =>
      health.obstacle(nowMs) === null && (isHead || queue.length === 0) && health.hasCapacity();
    if (!candidates.some(canLead) || !this.#hasRate(nowMs)) return quickest(candidates, nowMs);
    const called: UrlLine<T>[] = [];
    for (const line of usable) {
      const { health } = line;
      const isSound = sound.includes(line);
      if (health.obstacle(nowMs) === null && (isSound ? health.hasCapacityBeside() : health.hasCapacity()))
        called.push(line);
      // What is not known to answer yet is waited for; the rest is left out of this attempt.
      else if (isSound && !health.isHealthy) return line;
    }
    this.#give(permit, called, nowMs);
    return null;
  }

  /** G6. */
  #routeEach(permit: Permit<T>, nowMs: number, isHead: boolean): UrlLine<T> | null {
    const hasSound = permit.lines.some((line) => isSoundNow(line, nowMs));
    for (const line of permit.lines) {
      const { health } = line;
      const obstacle = hardObstacle(health.obstacle(nowMs));
      if (obstacle !== null) permit.leaveOut(line, obstacle);
      else if (hasSound && health.breakerState !== "closed") permit.leaveOut(line, "breaker_open");
      else if (hasSound && !health.isSound && (line.queue.length > 0 || !health.hasCapacity())) {
        permit.leaveOut(line, "concurrency_limit");
      }
    }
    if (permit.lines.length === 0) return null;
    const isFree = ({ health, queue }: UrlLine<T>) =>
      health.obstacle(nowMs) === null && (isHead || queue.length === 0) && health.hasCapacity();
    const hasRate = this.#hasRate(nowMs);
    if (!permit.lines.every(isFree)) {
      const goesNow = hasRate && permit.lines.some(isFree);
      let late: UrlLine<T> | null = null;
      let prompt: UrlLine<T> | null = null;
      for (const line of permit.lines) {
        if (isFree(line)) continue;
        if (!isLate(line, isHead ? 0 : line.queue.ahead(permit.isRetry), nowMs)) prompt ??= line;
        else if (goesNow) permit.leaveOut(line, "concurrency_limit");
        else late ??= line;
      }
      const waitsFor = prompt ?? late;
      if (waitsFor !== null) return waitsFor;
    } else if (!hasRate) {
      return permit.lines[0] ?? null;
    }
    this.#give(permit, permit.lines, nowMs);
    return null;
  }

  /**
   * G6: takes those out of a late URL's queue that owe one that is not late: behind others they would not come to their turn
   * soon, and what they owe there, and what stands behind them in their lanes, would wait with them.
   */
  #divert(nowMs: number): void {
    if (nowMs - this.#divertedMs < DIVERT_EACH_MS || !this.#hasRate(nowMs)) return;
    this.#divertedMs = nowMs;
    const prompt = this.#lines.filter((line) => !isLate(line, 0, nowMs));
    if (prompt.length === 0 || prompt.length === this.#lines.length) return;
    for (const line of this.#lines) {
      if (line.queue.length === 0 || prompt.includes(line)) continue;
      for (const permit of line.queue.takeOut(({ lines }) => lines.some((each) => prompt.includes(each)))) {
        this.#waitingRequests -= permit.lines.length;
        this.#diverted.push(permit);
      }
    }
  }

  #nextOf(line: UrlLine<T>, nowMs: number): Permit<T> | null {
    for (let moves = 0; moves < MOST_MOVES; moves += 1) {
      const permit = line.queue.peek();
      if (permit === undefined) return null;
      const { length } = permit.lines;
      const waitsFor = this.#route(permit, nowMs, true);
      if (waitsFor === line) {
        // Some of its URLs may have been left out.
        this.#waitingRequests += permit.lines.length - length;
        return null;
      }
      line.queue.shift();
      this.#waitingRequests -= length;
      if (waitsFor === null) return permit;
      waitsFor.queue.push(permit);
      this.#waitingRequests += permit.lines.length;
    }
    return null;
  }

  #nextLast(nowMs: number): Permit<T> | null {
    const permit = this.#last.peekFront();
    if (permit === undefined || !this.#hasRate(nowMs)) return null;
    if (!permit.lines.every(({ health }) => health.hasReserve())) return null;
    this.#last.shift();
    this.#lastRequests -= permit.lines.length;
    this.#waitingRequests -= permit.lines.length;
    return this.#give(permit, permit.lines, nowMs);
  }

  #give(permit: Permit<T>, lines: readonly UrlLine<T>[], nowMs: number): Permit<T> {
    permit.give(lines, nowMs);
    this.#rate?.take(lines.length, nowMs);
    return permit;
  }

  #refuse(permit: Permit<T>, cause: DeferralCause): Permit<T> {
    const owed = this.#settle === "any" ? this.#owedLines(permit.request.owed) : permit.lines;
    if (owed.length === permit.lines.length) permit.refuse(cause);
    else {
      // What was left out may serve it too when it comes again, whatever the last one that was left asked for.
      permit.lines = owed;
      permit.refuse(cause === "retry_after" ? "concurrency_limit" : cause);
    }
    return permit;
  }

  #hasRate(nowMs: number): boolean {
    return this.#rate === null || this.#rate.hasToken(nowMs);
  }

  /** Why a delivery must not wait for the URL behind `ahead` others; null when it may. */
  #tooLong(
    permit: Permit<T>,
    { health }: UrlLine<T>,
    ahead: number,
    nowMs: number,
    contextOf: ContextOf<T>,
  ): DeferralCause | null {
    const byRateMs = this.#rate?.waitMs(this.#waitingRequests, nowMs) ?? 0;
    const waitMs = Math.max(byRateMs, health.expectedWaitMs(ahead, nowMs));
    if (waitMs < CROWDED_WAIT_MS && !health.isQuiet) return null;
    const context = contextOf(permit.request);
    const cause = turnsAway(health, context);
    if (cause !== null || context.isAlone) return cause;
    if (waitMs >= this.#settings.longestWaitMs) return "concurrency_limit";
    return context.isCrowding && waitMs >= CROWDED_WAIT_MS ? "window_full" : null;
  }
}

/** G3: whether one that waits for the URL would keep a place that others need. */
function turnsAway(health: UrlHealth, context: LoadContext): DeferralCause | null {
  if (!context.isFilling) return null;
  if (health.isStalled) return context.isAlone && !context.isCrowding ? null : "concurrency_limit";
  if (context.isAlone) return null;
  return (context.isCrowding || context.isScarce) && health.isQuiet ? "window_full" : null;
}

function isSoundNow<T extends AdmissionRequest>({ health }: UrlLine<T>, nowMs: number): boolean {
  return health.isSound && hardObstacle(health.obstacle(nowMs)) === null;
}

/** Whether a delivery that another of its URLs could take at once does not wait for this one, behind `ahead` others (G6). */
function isLate<T extends AdmissionRequest>({ health }: UrlLine<T>, ahead: number, nowMs: number): boolean {
  if (health.obstacle(nowMs) === null && health.hasCapacity()) return false;
  return !health.isWaitedForBeside(ahead, nowMs);
}

function hardObstacle(obstacle: Obstacle | null): "breaker_open" | "retry_after" | null {
  return obstacle === "soon" ? null : obstacle;
}

/** The one of which the queue moves on soonest. */
function quickest<T extends AdmissionRequest>(lines: readonly UrlLine<T>[], nowMs: number): UrlLine<T> | null {
  let best: UrlLine<T> | null = null;
  let bestMs = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const waitMs = line.health.expectedWaitMs(line.queue.length, nowMs);
    if (best !== null && waitMs >= bestMs) continue;
    best = line;
    bestMs = waitMs;
  }
  return best;
}
