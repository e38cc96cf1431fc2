/**
 * The room of one destination in one process, so that one bad destination harms nobody else (rules I1 to I4): how many of
 * its requests are out, what waits for room, and what must not wait here. Counted in requests: a delivery may be five.
 *
 * Owns: the destination's breaker, limit, rate and gate, and the queue of what waits in the window. Performs nothing.
 * G1  A delivery goes when the breaker, the gate and the rate let it and there is room for its requests; one that is larger
 *     than the limit goes alone.
 * G2  Without room it waits while the expected wait is under `LONGEST_WAIT_MS`; else it is put off. A destination that is
 *     quick and was not congested lately is not put off by that: its queue is as long as this process is slow, and nobody
 *     gains. While no other destination is about, want of room is no reason, unless it stalls in a full window.
 * G3  In a full window of which the destination holds most, it is put off from `CROWDED_WAIT_MS` on: others stand behind. So is,
 *     in a window that grows full while others get through, one of which nothing came back for as long.
 * G4  Fresh and returning deliveries that both wait are taken in turn, so old ones do not starve (I2).
 * G5  What waited is put off, newest first, when its wait became too long; all of it when the breaker opened or the gate shut.
 * G6  It takes part in the room that all destinations share (rules H1 to H4) by its standing. Refused its first there, one that
 *     nothing is known of waits as long as one of which nothing comes back, and a doubtful one is put off at once: it would only
 *     hang.
 */
import Denque from "denque";
import { AdaptiveLimit, DEFAULT_LIMIT, type LimitSettings } from "./adaptive-limit.ts";
import { Breaker, type BreakerSettings, type BreakerState, DEFAULT_BREAKER } from "./breaker.ts";
import { LeastOfLate } from "./least-of-late.ts";
import { RateLimit } from "./rate-limit.ts";
import type { SharedRoom, Standing } from "./shared-room.ts";

/** Why a delivery is put off; the label `cause` of `posthaste_put_off_total`, with those that the room does not know. */
export type NoRoomCause = "breaker_open" | "no_room" | "window_full" | "retry_after";

/** What becomes of a delivery now. A `probe` is a `go` that the breaker waits for. */
export type Admission = "go" | "probe" | "wait" | NoRoomCause;

/** What asks for room. */
export interface RoomRequest {
  /** Requests that its attempt makes. */
  readonly requests: number;
  /** It comes from a retry topic. */
  readonly returning: boolean;
}

/** What is around the destination. */
export interface Surroundings {
  /** No other destination was about lately. */
  readonly isAlone: boolean;
  /** The record's window is full and the destination holds most of it. */
  readonly isCrowding: boolean;
  /** The record's window grows full, and other destinations do get through. */
  readonly isScarce: boolean;
}

/** Looks around for a delivery; asked only of those that must wait for long. */
export type AroundOf<T> = (request: T) => Surroundings;

/** How an attempt ended, for the room's purposes. `refused`: the receiver is well and does not want it; `congested`: it failed for want of time, or asked for less. */
export type RoomOutcome = "delivered" | "refused" | "failed" | "congested";

export interface RoomSettings {
  readonly limit: LimitSettings;
  readonly breaker: BreakerSettings;
}

export const DEFAULT_ROOM: RoomSettings = { limit: DEFAULT_LIMIT, breaker: DEFAULT_BREAKER };

/** I1: what waits longer than this goes to a retry topic, where it holds up nobody. */
const LONGEST_WAIT_MS = 1000;
/** In a window that is full others wait too: less patience there. */
const CROWDED_WAIT_MS = 200;
/** A destination that has always needed a while gets that while before it counts as stalled. */
const STALL_FACTOR = 1.5;
/** A receiver whose requests take less is quick; its connections alone bring two thousand deliveries a second. */
const QUICK_MS = 250;
const CONGESTION_MEMORY_MS = 30_000;
/** Weight of a new sample in the mean time that a request holds its room. */
const SAMPLE_WEIGHT = 0.1;

export class DestinationRoom<T extends RoomRequest> {
  readonly #breaker: Breaker;
  readonly #limit: AdaptiveLimit;
  readonly #shared: SharedRoom;
  #standing: Standing = "unknown";
  #rate: RateLimit | null = null;
  #shutUntilMs = 0;
  #inFlight = 0;
  /** Mean time that a request holds its room; null before the first ended. */
  #holdMs: number | null = null;
  readonly #leastHold = new LeastOfLate();
  /** How long no room was given back while some was taken, or none was to be had (G6). */
  #quietMs = 0;
  /** The shared room refused it its first. */
  #isHeldBack = false;
  readonly #fresh = new Denque<T>();
  readonly #returning = new Denque<T>();
  #waitingRequests = 0;
  #freshIsNext = true;

  constructor(settings: RoomSettings, shared: SharedRoom) {
    this.#breaker = new Breaker(settings.breaker);
    this.#limit = new AdaptiveLimit(settings.limit);
    this.#shared = shared;
  }

  get breakerState(): BreakerState {
    return this.#breaker.state;
  }

  /** Requests that are out. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Deliveries that wait for room. */
  get waiting(): number {
    return this.#fresh.length + this.#returning.length;
  }

  /** The moment till which the receiver asked for peace; in the past when it did not. */
  get shutUntilMs(): number {
    return this.#shutUntilMs;
  }

  /** Requests are out, and for a while none came back. */
  get isQuiet(): boolean {
    return this.#isStalled(CROWDED_WAIT_MS);
  }

  /** True when nothing is out and nothing waits: to forget it then loses only what it learnt of the destination. */
  get isEmpty(): boolean {
    return this.#inFlight === 0 && this.waiting === 0;
  }

  /** True when nothing stands against the destination either. */
  isIdle(nowMs: number): boolean {
    return this.isEmpty && this.#breaker.state === "closed" && nowMs >= this.#shutUntilMs;
  }

  /** The destination was changed: what is known against it may be mended. */
  forgive(): void {
    if (this.#standing === "doubtful") this.#standing = "unknown";
    if (this.#breaker.state === "closed" && this.#shutUntilMs === 0) return;
    this.#breaker.succeeded();
    this.#limit.reset();
    this.#shutUntilMs = 0;
  }

  /**
   * Time passed, and this process saw it pass: the caller leaves out the time for which it was blocked itself, in which it
   * could not have seen an answer.
   */
  passed(ms: number): void {
    if (this.#inFlight === 0 && !this.#isHeldBack) return;
    this.#quietMs += ms;
    if (this.#inFlight > 0 && this.isQuiet) this.#doubt();
  }

  /** Sets the destination's rate; null for none. Cheap when nothing changed. */
  setRate(perSecond: number | null, nowMs: number): void {
    if (perSecond === (this.#rate?.perSecond ?? null)) return;
    if (perSecond === null) this.#rate = null;
    else if (this.#rate === null) this.#rate = new RateLimit(perSecond, nowMs);
    else this.#rate.change(perSecond, nowMs);
  }

  /** A receiver asked for peace (W5). */
  shutUntil(momentMs: number): void {
    this.#shutUntilMs = Math.max(this.#shutUntilMs, momentMs);
  }

  /**
   * Decides on a delivery that arrives. After `go` and `probe` its room is taken: `settled` and `released` must follow.
   * After `wait` it stands in the queue, until `next` or `overdue` gives it out.
   */
  admit(request: T, nowMs: number, aroundOf: AroundOf<T>): Admission {
    const obstacle = this.#obstacle(nowMs);
    if (obstacle === "breaker_open" || obstacle === "retry_after") return obstacle;
    if (obstacle === null && this.waiting === 0 && this.#hasRoom(request.requests, nowMs))
      return this.#take(request, nowMs);
    const cause = this.#tooLong(request, this.#queueAhead(request), nowMs, aroundOf);
    if (cause !== null) return cause;
    (request.returning ? this.#returning : this.#fresh).push(request);
    this.#waitingRequests += request.requests;
    return "wait";
  }

  /**
   * Why a delivery that arrives now need not wait for its turn to be put off: nothing comes back from the destination. Null when it
   * may be served.
   */
  turnsAway(around: Surroundings): "no_room" | "window_full" | null {
    if (this.#isStalled(LONGEST_WAIT_MS)) return around.isAlone && !around.isCrowding ? null : "no_room";
    if (around.isAlone) return null;
    return (around.isCrowding || around.isScarce) && this.#isStalled(CROWDED_WAIT_MS) ? "window_full" : null;
  }

  /** The next delivery that waited and may go now, with its room taken; null when none may. */
  next(nowMs: number): { readonly request: T; readonly admission: "go" | "probe" } | null {
    if (this.waiting === 0 || this.#obstacle(nowMs) !== null) return null;
    const queue = this.#nextQueue();
    const request = queue.peekFront();
    if (request === undefined || !this.#hasRoom(request.requests, nowMs)) return null;
    queue.shift();
    this.#waitingRequests -= request.requests;
    this.#freshIsNext = queue === this.#returning;
    return { request, admission: this.#take(request, nowMs) };
  }

  /** A delivery that waited and must not any longer, and why; null when all may. */
  overdue(nowMs: number, aroundOf: AroundOf<T>): { readonly request: T; readonly cause: NoRoomCause } | null {
    if (this.waiting === 0) return null;
    const obstacle = this.#obstacle(nowMs);
    const shut = obstacle === "wait" ? null : obstacle;
    const queue = this.#fresh.length >= this.#returning.length ? this.#fresh : this.#returning;
    const request = queue.peekBack();
    if (request === undefined) return null;
    const cause = shut ?? this.#tooLong(request, this.#waitingRequests - request.requests, nowMs, aroundOf);
    if (cause === null) return null;
    queue.pop();
    this.#waitingRequests -= request.requests;
    return { request, cause };
  }

  /** Whether the room that all share has any for an attempt that goes whatever else stands against it (I3): that of a first (G6). */
  hasReserve(requests: number): boolean {
    return this.#shared.hasRoom(requests, 0, this.#standing);
  }

  /** Takes room for such an attempt; `settled` and `released` must follow. */
  takeReserve(requests: number): void {
    this.#takeOut(requests);
  }

  /** The attempt's outcome is known; requests of it may still be out. */
  settled(
    outcome: RoomOutcome,
    attempt: { readonly startedMs: number; readonly wasProbe: boolean },
    nowMs: number,
  ): void {
    if (outcome === "congested") this.#doubt();
    else this.#prove();
    if (outcome === "delivered" || outcome === "refused") {
      if (this.#breaker.state !== "closed") this.#limit.reset();
      this.#breaker.succeeded();
      this.#limit.succeeded(this.#inFlight, this.#leastHold.value);
      return;
    }
    this.#breaker.failed(nowMs, attempt.wasProbe);
    if (outcome === "congested") this.#limit.congested(attempt.startedMs, nowMs);
  }

  /** What `takeReserve` took is given back unused; the rate was not asked for it. */
  reserveCancelled(requests: number): void {
    this.#giveBack(requests);
  }

  /** Room that was taken is given back unused, and with it what the rate let through: nothing was sent. */
  cancelled(requests: number, wasProbe: boolean): void {
    this.#giveBack(requests);
    this.#rate?.giveBack(requests);
    if (wasProbe) this.#breaker.cancelProbe();
  }

  /** The attempt's requests have all ended. `blockedMs`: of the time that they took, what this process was blocked for. */
  released(requests: number, startedMs: number, nowMs: number, blockedMs = 0): void {
    this.#giveBack(requests);
    this.#quietMs = 0;
    const tookMs = nowMs - startedMs;
    // All of it, since the receiver may have needed that too: none is to count as quick that was not seen to be.
    this.#leastHold.note(tookMs, nowMs);
    const heldMs = Math.max(0, tookMs - blockedMs);
    this.#holdMs = this.#holdMs === null ? heldMs : this.#holdMs + SAMPLE_WEIGHT * (heldMs - this.#holdMs);
  }

  /** What stands against any call now: a cause to put off, `wait` for a gate that opens soon, or nothing. Takes no probe. */
  #obstacle(nowMs: number): "breaker_open" | "retry_after" | "wait" | null {
    if (nowMs < this.#shutUntilMs) return this.#shutUntilMs - nowMs >= LONGEST_WAIT_MS ? "retry_after" : "wait";
    return this.#breaker.canAdmit(nowMs) ? null : "breaker_open";
  }

  #hasRoom(requests: number, nowMs: number): boolean {
    if (this.#inFlight > 0 && this.#inFlight + requests > this.#limit.value) return false;
    if (this.#rate !== null && !this.#rate.hasRoom(nowMs)) return false;
    if (this.#shared.hasRoom(requests, this.#inFlight, this.#standing)) return true;
    this.#holdBack();
    return false;
  }

  #take(request: T, nowMs: number): "go" | "probe" {
    this.#takeOut(request.requests);
    this.#rate?.take(request.requests, nowMs);
    return this.#breaker.admit(nowMs) === "probe" ? "probe" : "go";
  }

  #takeOut(requests: number): void {
    if (this.#inFlight === 0) {
      this.#quietMs = 0;
      this.#isHeldBack = false;
    }
    this.#inFlight += requests;
    this.#shared.changed(requests, this.#standing === "proven" ? 0 : requests);
  }

  #giveBack(requests: number): void {
    this.#inFlight -= requests;
    this.#shared.changed(-requests, this.#standing === "proven" ? 0 : -requests);
  }

  #prove(): void {
    if (this.#standing !== "proven") this.#shared.changed(0, -this.#inFlight);
    this.#standing = "proven";
  }

  #doubt(): void {
    if (this.#standing === "proven") this.#shared.changed(0, this.#inFlight);
    this.#standing = "doubtful";
  }

  #holdBack(): void {
    if (this.#inFlight > 0 || this.#isHeldBack) return;
    this.#isHeldBack = true;
    this.#quietMs = 0;
  }

  #nextQueue(): Denque<T> {
    if (this.#fresh.length === 0) return this.#returning;
    if (this.#returning.length === 0) return this.#fresh;
    return this.#freshIsNext ? this.#fresh : this.#returning;
  }

  /** Requests that go before it. Where both kinds wait each has half of the room, so twice its own queue. */
  #queueAhead(request: T): number {
    const [own, other] = request.returning ? [this.#returning, this.#fresh] : [this.#fresh, this.#returning];
    if (other.length === 0 || own.length >= other.length) return this.#waitingRequests;
    return Math.min(this.#waitingRequests, 2 * own.length * request.requests);
  }

  #tooLong(request: T, ahead: number, nowMs: number, aroundOf: AroundOf<T>): "no_room" | "window_full" | null {
    const waitMs = this.#expectedWaitMs(ahead, nowMs);
    if (waitMs < CROWDED_WAIT_MS && !this.isQuiet) return null;
    const around = aroundOf(request);
    const cause = this.turnsAway(around);
    if (cause !== null || around.isAlone) return cause;
    if (waitMs >= LONGEST_WAIT_MS) return "no_room";
    return around.isCrowding && waitMs >= CROWDED_WAIT_MS ? "window_full" : null;
  }

  /** Room is taken and none was given back for longer than the destination ever needed; or it was held back for as long (G6). */
  #isStalled(patienceMs: number): boolean {
    if (this.#isHeldBack && this.#standing === "doubtful") return true;
    return (
      (this.#inFlight > 0 || this.#isHeldBack) &&
      this.#quietMs > Math.max(patienceMs, STALL_FACTOR * (this.#holdMs ?? 0))
    );
  }

  /** Queue ÷ completions a second, and of these there are as many as its limit, or the shared room, lets it have over the time that one holds its room. */
  #expectedWaitMs(ahead: number, nowMs: number): number {
    const byRate = this.#rate === null ? 0 : this.#rate.waitMs(ahead, nowMs);
    const holdMs = this.#holdMs ?? 0;
    if (holdMs < QUICK_MS && !this.#limit.wasHalved(nowMs, CONGESTION_MEMORY_MS)) return byRate;
    const byShared = (holdMs * ahead) / this.#shared.most(this.#standing);
    return Math.max(byRate, this.#limit.waitMs(ahead, holdMs), byShared);
  }
}
