/**
 * The last stage of a delivery: it finishes the delivery, or publishes its follow-ups: a retry record, a dead letter,
 * or several of both for single URLs.
 *
 * Owns nothing: the publisher, the attempt log, the retry backlog and the health counts have their own state.
 * - A delivery reaches this stage in one of three ways: its attempt was settled (`settled`), the check refused it
 *   (`deadLetter`, `hold`), or admission deferred it (`defer`, `deferParts`, `deferLastAttempt`).
 * OU2  Every retry record that is published counts in its destination's retry backlog (I2); every deferral counts by
 *      cause.
 * OU3  The attempt log gets a delivery's first deferral, and the end of every delivery that has an entry: an attempt
 *      that delivered is logged, whatever the share, when an earlier one failed, or when the delivery was deferred or
 *      sent again. So a reader of the log never waits for an end that it left out.
 * OU4  Every settled attempt, every answer and every deferral counts towards its destination's health.
 * OU5  A canary's deliveries count in the metrics of all deliveries and nowhere else: they are in no log, no health and
 *      no series of a destination, and what is given up of them becomes no dead letter.
 */

import { isCanaryId } from "@posthaste/contracts/canary-ids";
import type { Destination } from "@posthaste/core/config/destination";
import type { LoggedFollowUp } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import type { DeferredCause } from "@posthaste/core/delivery/deferred-cause";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import {
  planAdmissionHold,
  planDeferral,
  planHold,
  type RetryPlan,
  type RetrySchedule,
} from "@posthaste/core/delivery/retry-plan";
import type { DeferralCause, DeferredPart } from "@posthaste/core/isolation/permit";
import type { Clock } from "@posthaste/core/time";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Table } from "@posthaste/kafka/log/table";
import type { AttemptReport } from "@posthaste/webhook/report";
import type { DeferralPort } from "../admission/admission.ts";
import type { DeliveryPermit } from "../admission/attempt-port.ts";
import type { RetryBacklog } from "../admission/retry-backlog.ts";
import type { OutcomePort } from "../attempt/outcome-port.ts";
import { type CheckedDelivery, owedUrls } from "../check/checked-delivery.ts";
import type { RefusalPort } from "../check/destination-check.ts";
import type { HealthPort } from "../health/health-counts.ts";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import type { AttemptLog } from "./attempt-log.ts";
import { type FollowUp, planFollowUps, planRemovedUrls } from "./follow-ups.ts";
import { toLoggedDelivery } from "./logged-delivery.ts";
import { toLoggedFollowUps } from "./logged-follow-ups.ts";
import { toLoggedUrls } from "./logged-urls.ts";
import type { OutcomePublisher } from "./outcome-publisher.ts";

const NOTHING_LOGGED: readonly LoggedFollowUp[] = [];

export interface OutcomesOptions {
  readonly destinations: Pick<Table<Destination>, "get">;
  readonly publisher: Pick<OutcomePublisher, "publish">;
  readonly attemptLog: Pick<AttemptLog, "skips" | "skipsDeferrals" | "add" | "addDeferral">;
  readonly retryBacklog: RetryBacklog;
  readonly healthCounts: HealthPort;
  readonly schedule: RetrySchedule;
  /** The delay of a retry topic; 0 for the deliveries topic. */
  readonly delayMsOf: (topic: string) => number;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
}

export class Outcomes implements OutcomePort, RefusalPort, DeferralPort {
  readonly #options: OutcomesOptions;

  constructor(options: OutcomesOptions) {
    this.#options = options;
  }

  settled(
    permit: DeliveryPermit,
    report: AttemptReport,
    skippedTillMs: readonly (number | null)[],
  ): readonly LoggedFollowUp[] {
    const { clock, schedule, healthCounts, metrics } = this.#options;
    const nowMs = clock.nowMs();
    const { task, delivery, progress, destination } = permit.request;
    if (report.urls.length > 0) {
      const { outcome } = report.settlement;
      metrics.deliveries[outcome] += 1;
      if (!isCanaryId(destination.id)) {
        healthCounts.settled(destination.id, outcome, nowMs);
        metrics.destinations.settled(destination.id, outcome);
      }
    }
    if (report.urls.some(({ outcome }) => outcome === "delivered")) this.#observeDelivered(permit.request, nowMs);
    const planned = planFollowUps({ delivery, progress, destination, report, skippedTillMs, schedule, nowMs });
    const followUps =
      permit.deferred.length === 0 ? planned : [...planned, ...this.#planParts(permit.request, permit.deferred)];
    if (followUps.length === 0) {
      task.finish();
      return NOTHING_LOGGED;
    }
    this.#publish(task, followUps);
    // Nothing was published (F3 of outcome-publisher.ts): the partition's new owner makes the attempt again.
    if (task.window.isRevoked) return NOTHING_LOGGED;
    return toLoggedFollowUps(followUps, { isInParts: destination.settle === "each", nowMs });
  }

  /**
   * Logs the attempt, unless it sent no request or the attempt log skips it. The attempts of notifications are never
   * skipped.
   */
  finished({ request }: DeliveryPermit, report: AttemptReport, followUps: readonly LoggedFollowUp[]): void {
    const { attemptLog, delayMsOf, healthCounts, metrics } = this.#options;
    if (isCanaryId(request.destination.id)) return;
    healthCounts.finished(request.destination.id, report);
    for (const { durationMs } of report.urls) {
      metrics.requestSeconds.record(durationMs / 1000);
      metrics.destinations.requested(request.destination.id, durationMs);
    }
    const { outcome } = report.settlement;
    const { attempts, deferrals, replay } = request.progress;
    const follows = attempts > 0 || deferrals > 0 || replay !== null || followUps.length > 0;
    // Control derives the state of a deletion request from the attempts of its notifications, so all of those are
    // logged.
    const isSkipped = request.delivery.type !== "delete" && attemptLog.skips(outcome === "delivered", follows);
    if (isSkipped || report.urls.length === 0) return;
    attemptLog.add({
      ...toLoggedDelivery(request, delayMsOf),
      attempt: attempts + 1,
      startedAtMs: report.startedAtMs,
      outcome,
      urls: toLoggedUrls(request.destination.responseLog, report.urls),
      followUps,
      bodyBytes: request.delivery.body.length,
    });
  }

  deadLetter(task: Task<IncomingDelivery>, delivery: Delivery, reason: DeadLetterReason): void {
    this.#deadLetter(task, delivery, reason, task.item.progress);
  }

  hold(checked: CheckedDelivery): void {
    const { schedule, clock } = this.#options;
    this.#wait(checked, planHold({ schedule, progress: checked.progress, nowMs: clock.nowMs() }), "unknown_key");
  }

  defer(checked: CheckedDelivery, cause: DeferralCause, notBeforeMonotonicMs: number | null): CheckedDelivery | null {
    const { task, delivery, progress } = checked;
    const plan = this.#planDeferral(checked, progress, notBeforeMonotonicMs);
    // The progress still says that the last attempt is owed, in case it gets no permit now.
    if (plan.kind === "last_attempt") return { ...checked, progress: plan.progress };
    if (plan.kind === "retry") this.#wait(checked, plan, cause);
    else this.#deadLetter(task, delivery, plan.reason, plan.progress);
    return null;
  }

  deferParts(checked: CheckedDelivery, parts: readonly DeferredPart[]): void {
    this.#publish(checked.task, [...this.#planParts(checked, parts), ...planRemovedUrls(checked)]);
  }

  deferLastAttempt(checked: CheckedDelivery, cause: DeferralCause): void {
    this.#wait(checked, planAdmissionHold({ schedule: this.#options.schedule, progress: checked.progress }), cause);
  }

  /**
   * Plans the follow-ups for URLs that an attempt skips. A URL that is owed its last attempt gets a retry record of its
   * own, and has that attempt when the record returns.
   */
  #planParts(checked: CheckedDelivery, parts: readonly DeferredPart[]): readonly FollowUp[] {
    const { schedule } = this.#options;
    const { delivery, destination } = checked;
    return parts.map(({ urls, cause, notBeforeMs }): FollowUp => {
      const plan = this.#planDeferral(checked, { ...checked.progress, urls }, notBeforeMs);
      if (plan.kind === "dead_letter") return { ...plan, delivery, lastAttempt: owedUrls(plan.progress, destination) };
      this.#countDeferred(checked, cause);
      const wait = plan.kind === "retry" ? plan : planAdmissionHold({ schedule, progress: plan.progress });
      this.#logDeferral(checked, wait, cause);
      return wait;
    });
  }

  #planDeferral(
    { destination }: CheckedDelivery,
    progress: DeliveryProgress,
    notBeforeMonotonicMs: number | null,
  ): ReturnType<typeof planDeferral> {
    const { clock, retryBacklog, schedule } = this.#options;
    const nowMs = clock.nowMs();
    const notBeforeMs =
      notBeforeMonotonicMs === null ? null : Math.ceil(nowMs + notBeforeMonotonicMs - clock.monotonicMs());
    return planDeferral({ schedule, progress, nowMs, notBeforeMs, waiting: retryBacklog.sizeOf(destination.id) });
  }

  /** Republishes a delivery that gets no attempt now. */
  #wait(checked: CheckedDelivery, plan: RetryPlan, cause: DeferredCause): void {
    this.#countDeferred(checked, cause);
    this.#logDeferral(checked, plan, cause);
    this.#publish(checked.task, [plan]);
  }

  #countDeferred({ destination, progress }: CheckedDelivery, cause: DeferredCause): void {
    const { metrics, healthCounts, clock, schedule } = this.#options;
    metrics.deferred.inc({ cause });
    const { attempts, deferrals, replay } = progress;
    const isFirst = attempts === 0 && deferrals === 0 && replay === null;
    // Every other cause is the destination's own.
    if (isFirst && cause === "unknown_key") metrics.firstAttemptDelay.record(schedule.windowMs / 1000);
    if (!isCanaryId(destination.id)) healthCounts.deferred(destination.id, cause, clock.nowMs());
  }

  /** OU3. Nothing is logged of a record whose partition was given up: its new owner decides again. */
  #logDeferral(checked: CheckedDelivery, { delayMs, progress }: RetryPlan, cause: DeferredCause): void {
    const { attemptLog, delayMsOf, clock } = this.#options;
    if (isCanaryId(checked.destination.id)) return;
    if (checked.progress.deferrals > 0 || checked.task.window.isRevoked || attemptLog.skipsDeferrals) return;
    const nowMs = Math.round(clock.nowMs());
    attemptLog.addDeferral({
      ...toLoggedDelivery(checked, delayMsOf),
      attempts: checked.progress.attempts,
      deferredAtMs: nowMs,
      cause,
      urls: progress.urls,
      delayMs,
      dueAtMs: nowMs + delayMs,
      deadlineMs: progress.deadlineMs,
    });
  }

  #deadLetter(
    task: Task<IncomingDelivery>,
    delivery: Delivery,
    reason: DeadLetterReason,
    progress: DeliveryProgress,
  ): void {
    const lastAttempt = owedUrls(progress, this.#options.destinations.get(delivery.destinationId));
    this.#publish(task, [{ kind: "dead_letter", delivery, reason, progress, lastAttempt }]);
  }

  #publish(task: Task<IncomingDelivery>, followUps: readonly FollowUp[]): void {
    const { retryBacklog, publisher } = this.#options;
    const destinationId = task.item.delivery?.destinationId ?? "";
    for (const { kind } of followUps) if (kind === "retry") retryBacklog.add(destinationId);
    if (!isCanaryId(destinationId)) {
      publisher.publish(task, followUps);
      return;
    }
    const waiting = followUps.filter(({ kind }) => kind === "retry");
    if (waiting.length > 0) publisher.publish(task, waiting);
    else task.finish();
  }

  #observeDelivered({ delivery, progress, destination }: CheckedDelivery, nowMs: number): void {
    // Under `settle: each` a retry for some of the URLs follows an attempt that another URL may have answered with the
    // first 2xx. A delivery that fell apart into such retries before any 2xx is left out: none of its records knows the
    // fate of the others, and the metric counts a delivery at most once.
    if (progress.urls !== null && progress.urls.length < destination.urls.length) return;
    this.#options.metrics.endToEnd.record(Math.max(0, nowMs - delivery.receivedAtMs) / 1000);
  }
}
