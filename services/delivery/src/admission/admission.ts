/**
 * The third stage of a delivery: the admission of all destinations in this process (rules I1 to I6). It decides who is
 * sent now, who waits, and who is deferred.
 *
 * Owns: the destinations with deliveries that wait, and the tick that runs while there are such.
 * J1  Every delivery that enters is sent or deferred exactly once, unless its partition was given up meanwhile, or the
 *     check ends it: what waited is checked again when its destination was changed, or its retry window ended, before
 *     its turn came (V3 of destination-check.ts, V5 of check.ts).
 * J4  While a window fills, the tick watches its destinations with requests out, whether anything waits for them or
 *     not: deliveries of the same users stand in their lanes behind what is out. The tick watches too whoever is sent
 *     while the connection budget is busy, and every destination of several URLs, so that admission sees who hangs.
 * J5  Last attempts (I3) go whatever the breaker says, within `RESERVE_REQUESTS` of a destination and what the
 *     connection budget has for a first request of it: where many destinations hang, their retry windows end together
 *     too. They keep to the destination's rate.
 * J6  A URL is not blamed for the time in which this process was blocked, as far as a tick ran that could see it.
 * J2 and J3 stand in `active-destinations.ts`.
 */

import { isWindowOver } from "@posthaste/core/delivery/retry-plan";
import type { DeferralCause, DeferredPart } from "@posthaste/core/isolation/permit";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
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

/** What becomes of a delivery that admission does not let wait. A `notBeforeMs` is on the monotonic clock. */
export interface DeferralPort {
  /** Publishes all that the delivery owes, or answers the delivery as it is owed its last attempt now, else null. */
  defer(checked: CheckedDelivery, cause: DeferralCause, notBeforeMs: number | null): CheckedDelivery | null;
  /** Publishes all that the delivery owes, in parts with causes of their own. */
  deferParts(checked: CheckedDelivery, parts: readonly DeferredPart[]): void;
  /** Publishes a delivery that is owed its last attempt and found no place for it. */
  deferLastAttempt(checked: CheckedDelivery, cause: DeferralCause): void;
}

/** How admission has a delivery that waited checked again. */
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
}

export class Admission implements AttemptFeedback {
  readonly #options: AdmissionOptions;
  readonly #destinations: ActiveDestinations;
  /** Destinations with deliveries that wait, and those that J4 names. */
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

  /** Deliveries that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const { admission } of this.#watched) waiting += admission.waiting;
    return waiting;
  }

  /** Sends the delivery, now or when its destination admits it, or defers it. */
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
   * Answers why a delivery of the destination that arrives in this window is to be deferred without waiting for its
   * turn in its lane; null when it is to wait for it. Otherwise a window would fill with what stands behind requests
   * that hang.
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
    // A breaker that opened, or a receiver that asked not to be called, turns all that wait away at once. The next tick
    // sees a delivery that only waits too long.
    const isWell = outcome === "delivered" || outcome === "refused";
    if (isWell && shutMs === null) this.#sendWaiting(active, nowMs);
    else this.#serve(active, nowMs);
  }

  ended(permit: DeliveryPermit, index: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const active = this.#destinations.use(permit.request.destination.id, nowMs);
    permit.lines[index]?.health.ended();
    if (permit.isLast) active.reserved -= 1;
    if (active.admission.waiting > 0) this.#sendWaiting(active, nowMs);
  }

  leftOutTillMs({ request, lines }: DeliveryPermit): readonly (number | null)[] {
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

  /** After this admission sends nothing that waits. */
  close(): void {
    this.#eventLoop.close();
    this.#watched.clear();
  }

  /** Answers the destination as new as the delivery knows it; what waited for an older one is checked again. */
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

  /** W5: what receivers asked for by single URLs in an earlier attempt, which another process may have made. */
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
    } else this.#options.attempts.start(permit, this);
  }

  /** V3, V5: whether the delivery must be checked again before it is sent. */
  #isOutdated({ request, isLast }: DeliveryPermit): boolean {
    const { recheck, clock } = this.#options;
    return (!isLast && isWindowOver(request.progress, clock.nowMs())) || !recheck.isCurrent(request);
  }

  /** Takes a permit back: nothing is sent. */
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

  /** Sends a last attempt, now or when the rate lets it; false when the reserve is used up (J5). */
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

  /** J5: false when other last attempts used the reserve up while this one waited for the rate; it is deferred then. */
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

  /** Sends what may go now, and defers what must not wait any longer. */
  #serve(active: ActiveDestination, nowMs: number): void {
    const { admission } = active;
    this.#sendWaiting(active, nowMs);
    for (;;) {
      const permit = admission.overdue(nowMs, this.#contextOf);
      if (permit === null) return;
      this.#decided(permit);
    }
  }

  /** Sends what may go now. */
  #sendWaiting({ admission }: ActiveDestination, nowMs: number): void {
    for (let permit = admission.next(nowMs); permit !== null; permit = admission.next(nowMs)) this.#decided(permit);
  }
}

function hasReserve({ reserved }: ActiveDestination, requests: number): boolean {
  return reserved === 0 || reserved + requests <= RESERVE_REQUESTS;
}
