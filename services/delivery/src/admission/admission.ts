/**
 * The third stage of a delivery: the admission of all destinations in this process (rules I1 to I6). It decides which
 * deliveries are sent now, which wait, and which are deferred.
 *
 * Owns: the destinations that its tick watches, and the tick, which runs while there are any.
 * J1  Every delivery that enters is sent or deferred exactly once, unless its partition was given up meanwhile or the
 *     check ends it. A delivery that waited is checked again when its destination was changed or its retry window ended
 *     before it got its permit (V3 of destination-check.ts, V5 of check.ts).
 * J4  The tick watches every destination with deliveries that wait, so that the admission sees which URLs hang. It also
 *     watches each destination that has requests out while a window fills, since deliveries of the same users stand in
 *     their lanes behind those requests; each that is sent to while the connection budget is busy; each with several
 *     URLs; and each with requests out that a window asks about when it is filled (`isHeldUp`).
 * J5  Last attempts (I3) go whatever the breaker says. The requests of one destination's last attempts are
 *     `RESERVE_REQUESTS` at once at the most, and the connection budget must allow a first request to each URL: many
 *     destinations that hang have retry windows that end together. Last attempts keep to the destination's rate.
 * J6  The time in which this process was blocked does not count against a URL, as far as a tick ran that could notice
 *     it.
 *
 * J2 and J3 stand in `active-destinations.ts`.
 */

import { isWindowOver } from "@posthaste/core/delivery/retry-plan";
import type { DeferralCause, DeferredPart } from "@posthaste/core/isolation/permit";
import type { RequestEnd, RequestOutcome } from "@posthaste/core/isolation/url-health";
import type { Clock } from "@posthaste/core/time";
import type { PartitionWindow } from "@posthaste/kafka/consumer/windowed-consumer";
import type { CheckedDelivery } from "../check/checked-delivery.ts";
import type { ActiveDestination, ActiveDestinations } from "./active-destinations.ts";
import type { AttemptFeedback, AttemptPort, DeliveryPermit } from "./attempt-port.ts";
import { EventLoopClock } from "./event-loop-clock.ts";
import { isFilling, Load } from "./load.ts";
import { shutForMs } from "./shut-for-ms.ts";

const RESERVE_REQUESTS = 32;
const ALL_CALLED: readonly null[] = [];

/** The end of a delivery that admission defers. A `notBeforeMs` is on the monotonic clock. */
export interface DeferralPort {
  /**
   * Publishes all that the delivery owes and answers null; or publishes nothing and answers the delivery, when it is
   * owed its last attempt now.
   */
  defer(checked: CheckedDelivery, cause: DeferralCause, notBeforeMs: number | null): CheckedDelivery | null;
  /** Publishes all that the delivery owes, in parts with causes of their own. */
  deferParts(checked: CheckedDelivery, parts: readonly DeferredPart[]): void;
  /** Publishes a delivery that is owed its last attempt and gets no permit for it now. */
  deferLastAttempt(checked: CheckedDelivery, cause: DeferralCause): void;
}

/** Admission's question to the check about a delivery that waited. */
export interface RecheckPort {
  isCurrent(checked: CheckedDelivery): boolean;
  renew(checked: CheckedDelivery): CheckedDelivery | null;
}

export interface AdmissionOptions {
  readonly destinations: ActiveDestinations;
  readonly attempts: AttemptPort;
  readonly deferrals: DeferralPort;
  readonly recheck: RecheckPort;
  readonly retryWindowMs: number;
  readonly clock: Clock;
  /**
   * Called for each first attempt that did not wait for its own destination, with its delay since the receipt of the
   * call, in ms.
   */
  readonly onFirstAttempt: (delayMs: number) => void;
}

export class Admission implements AttemptFeedback {
  readonly #options: AdmissionOptions;
  readonly #destinations: ActiveDestinations;
  /** The destinations that J4 names. */
  readonly #watched = new Set<ActiveDestination>();
  readonly #eventLoop: EventLoopClock;
  readonly #load: Load;
  readonly #contextOf = ({ task, destination }: CheckedDelivery) => this.#load.contextOf(task.window, destination.id);

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#destinations = options.destinations;
    this.#load = new Load(options.destinations, options.clock.monotonicMs);
    this.#eventLoop = new EventLoopClock({
      monotonicMs: options.clock.monotonicMs,
      onTick: (nowMs, passedMs) => this.#serveWatched(nowMs, passedMs),
    });
  }

  /** How many deliveries wait. */
  get waiting(): number {
    let waiting = 0;
    for (const { admission } of this.#watched) waiting += admission.waiting;
    return waiting;
  }

  /** Takes a delivery over: sends it, now or when its destination admits it, or defers it. */
  admit(checked: CheckedDelivery): void {
    const { clock } = this.#options;
    const { progress, task, destination } = checked;
    if (isWindowOver(progress, clock.nowMs())) this.#deferWhole(checked, "concurrency_limit", null);
    else if (progress.notBeforeMs !== null && progress.notBeforeMs > clock.nowMs())
      this.#deferWhole(checked, "retry_after", null);
    else if (task.item.deferralOnArrival !== null) this.#deferWhole(checked, task.item.deferralOnArrival, null);
    else {
      const nowMs = clock.monotonicMs();
      const active = this.#configured(checked, nowMs);
      if (progress.urlsNotBeforeMs !== null) this.#shutUrls(active, progress.urlsNotBeforeMs, nowMs);
      const permit = active.admission.admit(checked, nowMs, this.#contextOf);
      const isBusy = this.#destinations.connectionBudget.isBusy;
      if (permit === null || isBusy || destination.urls.length > 1) this.#watch(active);
      if (permit !== null) this.#decided(permit);
    }
  }

  /**
   * Returns why a delivery of the destination that arrives in this window is deferred before its turn in its lane; null
   * when it waits for its turn. Without this, a window would fill with deliveries that stand behind requests that hang.
   */
  deferralOnArrival(destinationId: string, window: PartitionWindow): DeferralCause | null {
    if (!isFilling(window)) return null;
    const active = this.#destinations.peek(destinationId);
    if (active === undefined || !active.admission.hasUnsettled) return null;
    this.#watch(active);
    return active.admission.deferralOnArrival(this.#load.contextOf(window, destinationId));
  }

  /** Whether deliveries of the destination wait for its receivers or its rate, and not for this process. */
  isHeldUp(destinationId: string): boolean {
    const active = this.#destinations.peek(destinationId);
    if (active === undefined) return false;
    if (active.admission.hasUnsettled) this.#watch(active);
    return active.admission.isHeldUp(this.#options.clock.monotonicMs());
  }

  settled(permit: DeliveryPermit, index: number, outcome: RequestOutcome, shutMs: number | null): void {
    const nowMs = this.#options.clock.monotonicMs();
    const active = this.#destinations.use(permit.request.destination.id, nowMs);
    const health = permit.lines[index]?.health;
    const begun = { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) };
    health?.settled(outcome, begun, nowMs, this.#eventLoop.blockedMs(nowMs) - permit.blockedMs);
    if (shutMs !== null) health?.shutUntil(nowMs + shutMs);
    this.#load.noteOutcome(nowMs);
    if (active.admission.waiting === 0) return;
    // A breaker that opened, or a `Retry-After`, defers all that wait at once. A delivery that waits too long can wait
    // for the next tick to see it.
    const isWell = outcome === "delivered" || outcome === "refused";
    if (isWell && shutMs === null) this.#sendWaiting(active, nowMs);
    else this.#serve(active, nowMs);
  }

  ended(permit: DeliveryPermit, index: number, end: RequestEnd, answerMs: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const active = this.#destinations.use(permit.request.destination.id, nowMs);
    active.requestedMs = nowMs;
    permit.lines[index]?.health.ended(end, permit.wasProbe(index), nowMs, answerMs);
    if (permit.isLast) active.reserved -= 1;
    if (active.admission.waiting === 0) return;
    if (end === "over_budget") this.#serve(active, nowMs);
    else this.#sendWaiting(active, nowMs);
  }

  skippedTillMs({ request, lines }: DeliveryPermit): readonly (number | null)[] {
    const { destination, owed, requests } = request;
    if (destination.settle !== "any" || lines.length === requests) return ALL_CALLED;
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const sinceEpochMs = clock.nowMs() - nowMs;
    return this.#destinations
      .use(destination.id, nowMs)
      .admission.urls.filter((health) => owed === null || owed.includes(health.url))
      .filter((health) => lines.every((line) => line.health !== health))
      .map(({ shutUntilMs }) => (shutUntilMs > nowMs ? Math.ceil(shutUntilMs + sinceEpochMs) : null));
  }

  /** From now on nothing that waits is sent. */
  close(): void {
    this.#eventLoop.close();
    this.#watched.clear();
  }

  /**
   * Returns the destination, in the newest revision that a delivery brought. Deliveries that waited for an older one
   * are checked again.
   */
  #configured({ destination }: CheckedDelivery, nowMs: number): ActiveDestination {
    const active = this.#destinations.use(destination.id, nowMs);
    if (active.revision < destination.revision) {
      active.revision = destination.revision;
      const urls = destination.urls.map(({ url }) => url);
      for (const waited of active.admission.configure(urls, destination.settle)) this.#admitAgain(waited);
    }
    active.admission.setRate(destination.rateLimitPerSecond, nowMs);
    return active;
  }

  #admitAgain(waited: CheckedDelivery): void {
    const renewed = this.#options.recheck.renew(waited);
    if (renewed !== null) this.admit(renewed);
  }

  /**
   * W5: applies each `Retry-After` of a single URL that an earlier attempt was answered, perhaps in another process.
   */
  #shutUrls({ admission }: ActiveDestination, notBeforeMsOf: Readonly<Record<string, number>>, nowMs: number): void {
    const { clock, retryWindowMs } = this.#options;
    for (const [url, notBeforeMs] of Object.entries(notBeforeMsOf)) {
      const forMs = shutForMs(notBeforeMs, clock.nowMs(), retryWindowMs);
      if (forMs > 0) admission.urls.find((health) => health.url === url)?.shutUntil(nowMs + forMs);
    }
  }

  /** Acts on a permit that was given or refused. */
  #decided(permit: DeliveryPermit): void {
    const { request } = permit;
    if (!permit.isGiven) {
      this.#defer(request, permit.deferred);
      return;
    }
    permit.blockedMs = this.#eventLoop.blockedMs(permit.startedMs);
    if (permit.isLast && !this.#takeReserve(permit)) return;
    if (request.task.window.isRevoked) this.#cancel(permit);
    else if (this.#isOutdated(permit)) {
      this.#cancel(permit);
      this.#admitAgain(request);
    } else {
      this.#destinations.use(request.destination.id, permit.startedMs).requestedMs = permit.startedMs;
      this.#noteFirstAttempt(permit);
      this.#options.attempts.start(permit, this);
    }
  }

  /** A destination that is alone waits for itself (J3), and is not deferred while it does. */
  #noteFirstAttempt({ request, startedMs }: DeliveryPermit): void {
    const { attempts, deferrals, replay } = request.progress;
    if (attempts > 0 || deferrals > 0 || replay !== null) return;
    const { clock, onFirstAttempt } = this.#options;
    const { id } = request.destination;
    const active = this.#destinations.isAlone(id, startedMs) ? this.#destinations.peek(id) : undefined;
    if (active?.admission.isHeldUp(startedMs)) return;
    onFirstAttempt(clock.nowMs() - request.delivery.receivedAtMs);
  }

  /** V3, V5: whether the delivery must be checked again before it is sent. */
  #isOutdated({ request, isLast }: DeliveryPermit): boolean {
    const { recheck, clock } = this.#options;
    return (!isLast && isWindowOver(request.progress, clock.nowMs())) || !recheck.isCurrent(request);
  }

  /** Takes back a permit whose requests are not sent. */
  #cancel(permit: DeliveryPermit): void {
    const active = this.#destinations.use(permit.request.destination.id, this.#options.clock.monotonicMs());
    if (permit.isLast) active.reserved -= permit.lines.length;
    active.admission.cancelled(permit);
  }

  #defer(checked: CheckedDelivery, parts: readonly DeferredPart[]): void {
    if (checked.task.window.isRevoked) return;
    const [only] = parts;
    if (only !== undefined && parts.length === 1) this.#deferWhole(checked, only.cause, only.notBeforeMs);
    else this.#options.deferrals.deferParts(checked, parts);
  }

  /** `notBeforeMs` is on the monotonic clock. */
  #deferWhole(checked: CheckedDelivery, cause: DeferralCause, notBeforeMs: number | null): void {
    const { deferrals } = this.#options;
    const last = deferrals.defer(checked, cause, notBeforeMs);
    if (last !== null && !this.#admitLast(last)) deferrals.deferLastAttempt(last, cause);
  }

  /**
   * Sends a last attempt, now or when the rate lets it. False when it gets no permit now: its destination's last
   * attempts have `RESERVE_REQUESTS` out, the connection budget refuses, or the rate would take too long (J5).
   */
  #admitLast(checked: CheckedDelivery): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const active = this.#configured(checked, nowMs);
    if (!hasReserve(active, checked.requests)) return false;
    const permit = active.admission.admitLast(checked, nowMs);
    if (permit === "full") return false;
    if (permit === null) this.#watch(active);
    else this.#decided(permit);
    return true;
  }

  /**
   * J5: counts the requests of a last attempt. When others used up the reserve while it waited for the rate, it is
   * deferred, and the answer is false.
   */
  #takeReserve(permit: DeliveryPermit): boolean {
    const { request, lines, startedMs } = permit;
    const active = this.#destinations.use(request.destination.id, startedMs);
    if (hasReserve(active, lines.length)) {
      active.reserved += lines.length;
      return true;
    }
    active.admission.cancelled(permit);
    if (!request.task.window.isRevoked) this.#deferWhole(request, "concurrency_limit", null);
    return false;
  }

  #watch(active: ActiveDestination): void {
    this.#watched.add(active);
    this.#eventLoop.run();
  }

  #serveWatched(nowMs: number, passedMs: number): void {
    if (this.#watched.size === 0) this.#eventLoop.stop();
    for (const active of this.#watched) {
      active.admission.passed(passedMs);
      this.#serve(active, nowMs);
      if (active.admission.isEmpty) this.#watched.delete(active);
    }
  }

  /** Sends the deliveries that may go now, and defers those that must not wait any longer. */
  #serve(active: ActiveDestination, nowMs: number): void {
    const { admission } = active;
    this.#sendWaiting(active, nowMs);
    for (;;) {
      const permit = admission.overdue(nowMs, this.#contextOf);
      if (permit === null) return;
      this.#decided(permit);
    }
  }

  /** Sends the deliveries that may go now. */
  #sendWaiting({ admission }: ActiveDestination, nowMs: number): void {
    for (let permit = admission.next(nowMs); permit !== null; permit = admission.next(nowMs)) this.#decided(permit);
  }
}

function hasReserve({ reserved }: ActiveDestination, requests: number): boolean {
  return reserved === 0 || reserved + requests <= RESERVE_REQUESTS;
}
