/**
 * The admission of all destinations in this process (rules I1 to I6): who is sent now, who waits, who is deferred.
 *
 * Owns: the admission of each destination that was active lately, what the URLs of those before were seen to manage, a timer
 * that forgets, and one that runs while something waits.
 * J1  Every delivery that is submitted is sent or deferred exactly once, unless its partition was given up meanwhile.
 * J2  A destination is forgotten when it was idle for `IDLE_MS`, and with what stands against it when nobody asked for it for
 *     `FORGET_MS`, so the memory follows the destinations in use (I4). What waits for a destination that is changed is
 *     judged again.
 * J3  A destination counts as alone when no other was active for `ALONE_MS`.
 * J4  While a window fills, its destinations with requests out are watched by the tick, whether anything waits for them or not:
 *     deliveries of the same users stand in their lanes behind what is out. So is who is sent while many requests are out in
 *     all, and every destination of several URLs, so that it is seen who hangs.
 * J5  Last attempts (I3) go whatever the breaker says, within `RESERVE_REQUESTS` of a destination and what the room that all
 *     share has for a first one of it: where many destinations hang, their windows end together too. They keep to the rate.
 * J6  A URL is not blamed for the time that this process was blocked, as far as a tick ran that could see it.
 */

import { type AdmissionSettings, DestinationAdmission } from "@posthaste/core/isolation/admission";
import { BREAKER_STATES, type BreakerState } from "@posthaste/core/isolation/circuit-breaker";
import { ConnectionBudget } from "@posthaste/core/isolation/connection-budget";
import type { LoadContext } from "@posthaste/core/isolation/load-context";
import type { DeferralCause, DeferredPart, Permit } from "@posthaste/core/isolation/permit";
import { RememberedLimits } from "@posthaste/core/isolation/remembered-limits";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { PartitionWindow } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Pending } from "./pending.ts";

const TICK_MS = 20;
/** What a tick counts for at most: in the rest of a late one this process was blocked and saw no answers (J6). */
const LONGEST_TICK_MS = 50;
const SWEEP_MS = 10_000;
const IDLE_MS = 60_000;
/** Longer than the quick retry tiers, from which a failing destination's deliveries keep coming back. */
const FORGET_MS = 600_000;
const ALONE_MS = 300_000;
const RESERVE_REQUESTS = 32;
/** A window fills from this share on. */
const FILLING = 0.75;
/** When nothing at all came back for longer, the fault may be this process's or its network's. */
const GETTING_THROUGH_MS = 200;

/** A delivery's permit to be sent; `settled` and `ended` must follow for each of its URLs, or one `cancel`. */
export type DeliveryPermit = Permit<Pending>;

export interface IsolationOptions {
  readonly settings: AdmissionSettings;
  /** What the sender has at the most. */
  readonly connections: number;
  readonly monotonicMs: () => number;
  /** A delivery may go. */
  readonly send: (permit: DeliveryPermit) => void;
  /** A delivery must not wait here: these parts of it are all that it owes. */
  readonly defer: (pending: Pending, parts: readonly DeferredPart[]) => void;
  /** A delivery's destination was changed while it waited: it is to be judged again. */
  readonly judgeAgain: (pending: Pending) => void;
}

interface Entry {
  readonly admission: DestinationAdmission<Pending>;
  usedMs: number;
  /** Of the destination as it was seen last. */
  revision: number;
  /** Requests of last attempts that have not ended. */
  reserved: number;
  /** Deliveries of it that this process saw go to retry topics and not come back (I2). */
  away: number;
}

export class Isolation {
  readonly #options: IsolationOptions;
  readonly #shared: ConnectionBudget;
  readonly #remembered: RememberedLimits;
  readonly #entries = new Map<string, Entry>();
  /** Entries with deliveries that wait, and those that J4 says. */
  readonly #watched = new Set<Entry>();
  #tick: NodeJS.Timeout | undefined;
  readonly #sweep: NodeJS.Timeout;
  readonly #contextOf = ({ task, destination }: Pending) => this.#context(task.window, destination.id);
  #tickedMs = 0;
  #blockedMs = 0;
  #lastId = "";
  #settledMs = Number.NEGATIVE_INFINITY;
  #lastOtherMs = Number.NEGATIVE_INFINITY;

  constructor(options: IsolationOptions) {
    this.#options = options;
    this.#shared = new ConnectionBudget(options.connections);
    this.#remembered = new RememberedLimits(options.settings.limit.first);
    this.#sweep = setInterval(() => this.#forgetIdle(), SWEEP_MS);
  }

  /** Sends the delivery, now or when it is admitted, or defers it. */
  submit(pending: Pending): void {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#configured(pending, nowMs);
    const permit = entry.admission.admit(pending, nowMs, this.#contextOf);
    if (permit === null || this.#shared.isBusy || pending.destination.urls.length > 1) this.#watch(entry);
    if (permit !== null) this.#decided(permit);
  }

  /** Sends a last attempt, now or when the rate lets it; false when the reserve is used up (J5). */
  submitLast(pending: Pending): boolean {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#configured(pending, nowMs);
    if (!hasReserve(entry, pending.requests)) return false;
    const permit = entry.admission.admitLast(pending, nowMs);
    if (permit === "full") return false;
    if (permit === null) this.#watch(entry);
    else this.#decided(permit);
    return true;
  }

  /**
   * Why a delivery of the destination that arrives in this window need not take its turn in its lane, but is to be deferred;
   * null when it is to take it. Else a window would fill with what stands behind requests that hang.
   */
  turnsAway(destinationId: string, window: PartitionWindow): DeferralCause | null {
    if (!isFilling(window)) return null;
    const entry = this.#entries.get(destinationId);
    if (entry === undefined || !entry.admission.hasUnsettled) return null;
    this.#watch(entry);
    return entry.admission.deferralOnArrival(this.#context(window, destinationId));
  }

  /** A receiver asked, when it was called from elsewhere, not to be called at this URL for so long (W5). */
  shut(pending: Pending, url: string, forMs: number): void {
    const nowMs = this.#options.monotonicMs();
    const { urls } = this.#configured(pending, nowMs).admission;
    urls.find((health) => health.url === url)?.shutUntil(nowMs + forMs);
  }

  /** When each URL that a permit leaves out may be called, on the monotonic clock; null for one that did not ask for peace. */
  leftOutTillMs({ request, lines }: DeliveryPermit): readonly (number | null)[] {
    const nowMs = this.#options.monotonicMs();
    const { destination, owed } = request;
    return this.#entry(destination.id, nowMs)
      .admission.urls.filter((health) => owed === null || owed.includes(health.url))
      .filter((health) => lines.every((line) => line.health !== health))
      .map(({ shutUntilMs }) => (shutUntilMs > nowMs ? shutUntilMs : null));
  }

  /** A permit is given back: nothing was sent. */
  cancel(permit: DeliveryPermit): void {
    const entry = this.#entry(permit.request.destination.id, this.#options.monotonicMs());
    if (permit.isLast) entry.reserved -= permit.lines.length;
    entry.admission.cancelled(permit);
  }

  /** The outcome of a permit's request is known. `shutForMs`: how long the receiver asked for peace. */
  settled(permit: DeliveryPermit, index: number, outcome: RequestOutcome, shutForMs: number | null): void {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#entry(permit.request.destination.id, nowMs);
    const health = permit.lines[index]?.health;
    const begun = { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) };
    health?.settled(outcome, begun, nowMs, this.#blockedTill(nowMs) - permit.blockedMs);
    if (shutForMs !== null) health?.shutUntil(nowMs + shutForMs);
    this.#settledMs = nowMs;
    if (entry.admission.waiting === 0) return;
    // What only waits too long is seen by the next tick; a breaker that opened or a gate that shut turns all away at once.
    const isWell = outcome === "delivered" || outcome === "refused";
    if (isWell && shutForMs === null) this.#sendWaiting(entry, nowMs);
    else this.#serve(entry, nowMs);
  }

  /** A request of a permit has ended. */
  ended(permit: DeliveryPermit, index: number): void {
    const nowMs = this.#options.monotonicMs();
    const entry = this.#entry(permit.request.destination.id, nowMs);
    permit.lines[index]?.health.ended();
    if (permit.isLast) entry.reserved -= 1;
    if (entry.admission.waiting > 0) this.#sendWaiting(entry, nowMs);
  }

  /** A delivery of the destination went to a retry topic. */
  wentAway(destinationId: string): void {
    this.#entry(destinationId, this.#options.monotonicMs()).away += 1;
  }

  /** A delivery of the destination came back from a retry topic, whatever becomes of it now. */
  cameBack(destinationId: string): void {
    const entry = this.#entries.get(destinationId);
    if (entry !== undefined && entry.away > 0) entry.away -= 1;
  }

  /** Deliveries of the destination in retry topics, as far as this process knows. */
  awayOf(destinationId: string): number {
    return this.#entries.get(destinationId)?.away ?? 0;
  }

  get waiting(): number {
    let waiting = 0;
    for (const { admission } of this.#watched) waiting += admission.waiting;
    return waiting;
  }

  /** URLs by the state of their breaker. */
  breakers(): Record<BreakerState, number> {
    const counts = Object.fromEntries(BREAKER_STATES.map((state) => [state, 0])) as Record<BreakerState, number>;
    for (const { admission } of this.#entries.values()) {
      for (const { breakerState } of admission.urls) counts[breakerState] += 1;
    }
    return counts;
  }

  /** Nothing that waits is sent any more. */
  close(): void {
    clearInterval(this.#tick);
    clearInterval(this.#sweep);
    this.#watched.clear();
  }

  #entry(destinationId: string, nowMs: number): Entry {
    if (destinationId !== this.#lastId) {
      if (this.#lastId !== "") this.#lastOtherMs = nowMs;
      this.#lastId = destinationId;
    }
    let entry = this.#entries.get(destinationId);
    if (entry === undefined) {
      const rememberedLimitOf = (url: string) =>
        this.#remembered.of(keyOf(destinationId, url), this.#options.monotonicMs());
      const admission = new DestinationAdmission<Pending>(this.#options.settings, this.#shared, rememberedLimitOf);
      entry = { admission, usedMs: nowMs, revision: -1, reserved: 0, away: 0 };
      this.#entries.set(destinationId, entry);
    }
    entry.usedMs = nowMs;
    return entry;
  }

  /** The delivery's destination, as new as the delivery knows it; what waited for an older one is judged again. */
  #configured({ destination }: Pending, nowMs: number): Entry {
    const entry = this.#entry(destination.id, nowMs);
    if (entry.revision < destination.revision) {
      entry.revision = destination.revision;
      const urls = destination.urls.map(({ url }) => url);
      for (const waited of entry.admission.configure(urls, destination.settle)) this.#options.judgeAgain(waited);
    }
    entry.admission.setRate(destination.rateLimitPerSecond, nowMs);
    return entry;
  }

  #context(window: PartitionWindow, destinationId: string): LoadContext {
    const nowMs = this.#options.monotonicMs();
    const fills = isFilling(window);
    return {
      isAlone: nowMs - this.#lastOtherMs >= ALONE_MS,
      isFilling: fills,
      isCrowding: window.isFull && window.ownedBy(destinationId) * 2 > window.records,
      isScarce: fills && nowMs - this.#settledMs <= GETTING_THROUGH_MS,
    };
  }

  /** Acts on a permit that was given or refused. */
  #decided(permit: DeliveryPermit): void {
    const { request, deferred } = permit;
    if (!permit.isGiven) this.#options.defer(request, deferred);
    else {
      permit.blockedMs = this.#blockedTill(permit.startedMs);
      if (permit.isLast && !this.#takeReserve(permit)) return;
      if (request.task.window.isRevoked) this.cancel(permit);
      else this.#options.send(permit);
    }
  }

  /** False, and the last attempt comes again later, when others used the reserve up while it waited for the rate (J5). */
  #takeReserve(permit: DeliveryPermit): boolean {
    const { request, lines, startedMs } = permit;
    const entry = this.#entry(request.destination.id, startedMs);
    if (hasReserve(entry, lines.length)) {
      entry.reserved += lines.length;
      return true;
    }
    entry.admission.cancelled(permit);
    const urls = lines.map(({ health }) => health.url);
    this.#options.defer(request, [{ urls, cause: "concurrency_limit", notBeforeMs: null }]);
    return false;
  }

  /** Ms, whole, for which this process was blocked up to now; with what the next tick will find. */
  #blockedTill(nowMs: number): number {
    if (this.#tick === undefined) return this.#blockedMs;
    return this.#blockedMs + Math.max(0, Math.floor(nowMs - this.#tickedMs - LONGEST_TICK_MS));
  }

  #watch(entry: Entry): void {
    this.#watched.add(entry);
    if (this.#tick !== undefined) return;
    this.#tickedMs = this.#options.monotonicMs();
    this.#tick = setInterval(() => this.#serveWatched(), TICK_MS);
  }

  #serveWatched(): void {
    const nowMs = this.#options.monotonicMs();
    const passedMs = Math.min(nowMs - this.#tickedMs, LONGEST_TICK_MS);
    this.#blockedMs = this.#blockedTill(nowMs);
    this.#tickedMs = nowMs;
    if (this.#watched.size === 0) {
      clearInterval(this.#tick);
      this.#tick = undefined;
    }
    for (const entry of this.#watched) {
      entry.admission.passed(passedMs);
      this.#serve(entry, nowMs);
      if (entry.admission.isEmpty) this.#watched.delete(entry);
    }
  }

  /** Sends what may go now and defers what must not wait any longer. */
  #serve(entry: Entry, nowMs: number): void {
    const { admission } = entry;
    this.#sendWaiting(entry, nowMs);
    for (;;) {
      const permit = admission.overdue(nowMs, this.#contextOf);
      if (permit === null) return;
      this.#decided(permit);
    }
  }

  /** Sends what may go now. */
  #sendWaiting({ admission }: Entry, nowMs: number): void {
    for (let permit = admission.next(nowMs); permit !== null; permit = admission.next(nowMs)) this.#decided(permit);
  }

  #forgetIdle(): void {
    const nowMs = this.#options.monotonicMs();
    for (const [id, entry] of this.#entries) {
      const unusedMs = nowMs - entry.usedMs;
      const isIdle = unusedMs >= IDLE_MS && entry.away === 0 && entry.admission.isIdle(nowMs);
      if (!isIdle && !(unusedMs >= FORGET_MS && entry.admission.isEmpty)) continue;
      for (const { url, limit } of entry.admission.urls) this.#remembered.note(keyOf(id, url), limit, nowMs);
      this.#entries.delete(id);
    }
  }
}

function hasReserve({ reserved }: Entry, requests: number): boolean {
  return reserved === 0 || reserved + requests <= RESERVE_REQUESTS;
}

function keyOf(destinationId: string, url: string): string {
  return `${destinationId} ${url}`;
}

/** Before it is full, so that what others need is never taken; and not before, since till then nobody stands behind. */
function isFilling(window: PartitionWindow): boolean {
  return window.records > window.maxRecords * FILLING;
}
