/**
 * One delivery through this process: judged by its destination's newest state, given its turn, sent, followed up.
 *
 * V1  A delivery is judged only when the destinations are known up to the config offset that it was routed by: a table that
 *     lags would take a new destination for a removed one.
 * V2  A destination whose secrets cannot be opened gets nothing, and nothing of it is given up: its deliveries are held.
 * V3  URLs, headers and secrets are those of the moment of sending: what waited is judged again when its destination was
 *     changed meanwhile.
 * V4  Every delivery ends finished: delivered, republished, or kept in its window until the next owner reads it.
 * V5  No attempt starts after the end of the delivery's retry window, wherever it waited, but the last one that it is owed.
 */

import type { Destination } from "@posthaste/core/config/destination";
import { jitterMs } from "@posthaste/core/delivery/backoff";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import type { AttemptOutcome } from "@posthaste/core/delivery/outcome";
import {
  type DeadPlan,
  isWindowOver,
  planAdmissionHold,
  planDeferral,
  planHold,
  type RetrySchedule,
} from "@posthaste/core/delivery/retry-plan";
import type { DeferralCause, DeferredPart } from "@posthaste/core/isolation/permit";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { Table } from "@posthaste/kafka/log/table";
import type { AttemptReport, OutcomeDetails } from "@posthaste/webhook/report";
import type { WebhookSender } from "@posthaste/webhook/sender";
import type { AttemptLog } from "./attempt-log.ts";
import { ConfigWait } from "./config-wait.ts";
import type { DueGate } from "./due-gate.ts";
import type { FollowUp, FollowUps } from "./follow-up.ts";
import type { DeliveryPermit, Isolation } from "./isolation.ts";
import { toLoggedUrls } from "./logged-urls.ts";
import type { DeferredCause, DeliveryMetrics } from "./metrics.ts";
import { type Intake, owedUrls, type Pending, toPending } from "./pending.ts";
import { type AttemptStages, PermittedAttempt, toError } from "./permitted-attempt.ts";
import { buryRemoved, planFollowUps, requestOutcome } from "./settlement.ts";

export interface DelivererParts {
  readonly destinations: Table<Destination>;
  readonly sender: WebhookSender;
  readonly isolation: Isolation;
  readonly followUps: FollowUps;
  readonly attemptLog: AttemptLog;
  readonly dueGate: DueGate;
  readonly schedule: RetrySchedule;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  /** 0 up to but not including 1. */
  readonly random: () => number;
  /** The delay of the retry topic that a retry comes from, in ms. */
  readonly delayMsOf: (topic: string) => number;
  readonly log: Log;
  readonly onFailure: (reason: Error) => void;
}

export class Deliverer {
  readonly #parts: DelivererParts;
  /** Destinations whose missing key was reported, so that the log has one line and not one a delivery. */
  readonly #reported = new Set<string>();
  readonly #jittering = new Set<NodeJS.Timeout>();
  readonly #configWait: ConfigWait;
  readonly #attempts: AttemptStages;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#configWait = new ConfigWait({ destinations: parts.destinations, log: parts.log });
    this.#attempts = {
      settled: (permit, index, outcome, details) => this.#settled(permit, index, outcome, details),
      ended: (permit, index) => parts.isolation.ended(permit, index),
      settle: (permit, report) => this.#settle(permit, report),
      finish: (permit, report) => this.#finish(permit, report),
      onFailure: parts.onFailure,
    };
  }

  /** Starts the work on a record; its task is finished later. */
  run(task: Task<Intake>): void {
    const { delivery, isRetry } = task.item;
    if (delivery === null) this.#dropUnreadable(task);
    else if (!isRetry) this.#judge(task, delivery);
    else if (this.#isSecondCopy(task)) task.finish();
    else this.#afterJitter(task, delivery);
  }

  /** A permit was given: sends, and follows up what comes of it. */
  send(permit: DeliveryPermit): void {
    const { sender, destinations, isolation, clock } = this.#parts;
    const { task, delivery, destination, progress } = permit.request;
    const isLate = !permit.isLast && isWindowOver(progress, clock.nowMs());
    if (isLate || destinations.get(destination.id) !== destination) {
      isolation.cancel(permit);
      this.#submit(task, delivery);
      return;
    }
    const { messageId, body } = delivery;
    const callsAll = permit.lines.length === destination.urls.length;
    const urls = callsAll ? null : permit.lines.map(({ health }) => health.url);
    const attempt = progress.attempts + 1;
    sender.attempt({ destination, messageId, body, attempt, urls }, new PermittedAttempt(permit, this.#attempts));
  }

  /** A delivery's destination was changed while it waited. */
  judgeAgain({ task, delivery }: Pending): void {
    this.#submit(task, delivery);
  }

  /**
   * A delivery must not wait here: to a retry topic without an attempt, or at its window's end its last one, if it is owed that.
   * `parts` are all that it owes, by cause.
   */
  defer(pending: Pending, parts: readonly DeferredPart[]): void {
    const { task } = pending;
    if (task.window.isRevoked) return;
    const [only] = parts;
    if (only !== undefined && parts.length === 1) this.#defer(pending, only.cause, only.notBeforeMs);
    else this.#publish(task, [...this.#planParts(pending, parts), ...buryRemoved(pending)]);
  }

  /** What waits for its jitter or for destinations stays in its window, to be read again. */
  close(): void {
    this.#configWait.close();
    for (const timer of this.#jittering) clearTimeout(timer);
    this.#jittering.clear();
  }

  /** What is thrown where nobody waits is a bug, and ends the process. */
  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#parts.onFailure(toError(error));
    }
  }

  #dropUnreadable(task: Task<Intake>): void {
    const { topic, partition, offset } = task.record;
    this.#parts.log.error({ event: "delivery_unreadable", topic, partition, offset });
    this.#parts.metrics.unreadable.inc();
    task.finish();
  }

  /** W6. Under `settle: each` another attempt may hand off other URLs from the same place: only equal ones are a copy. */
  #isSecondCopy({ item, record }: Task<Intake>): boolean {
    const { dueGate, metrics } = this.#parts;
    const { republishedFrom, progress } = item;
    if (republishedFrom === undefined) return false;
    const republish = progress.urls === null ? republishedFrom : `${republishedFrom} ${progress.urls.join(" ")}`;
    if (!dueGate.isRepeat(republish, `${record.topic}/${record.partition}/${record.offset}`)) return false;
    metrics.repeats.inc({ kind: "hand_off" });
    return true;
  }

  /** W6: jitter comes after a record is due, so that its topic stays in due order. It never outlasts the retry window (V5). */
  #afterJitter(task: Task<Intake>, delivery: Delivery): void {
    const { delayMsOf, schedule, random, clock } = this.#parts;
    const { window, record, item } = task;
    const leftMs = (item.progress.deadlineMs ?? Number.POSITIVE_INFINITY) - clock.nowMs() - 1;
    const terms = {
      delayMs: delayMsOf(record.topic),
      delaysMs: schedule.delaysMs,
      fill: window.records / window.maxRecords,
    };
    const timer = setTimeout(
      () => {
        this.#jittering.delete(timer);
        this.#guard(() => this.#judge(task, delivery));
      },
      Math.min(jitterMs(terms, random()), leftMs),
    );
    this.#jittering.add(timer);
  }

  #judge(task: Task<Intake>, delivery: Delivery): void {
    if (task.window.isRevoked) return;
    const { isolation } = this.#parts;
    if (task.item.isRetry) isolation.cameBack(delivery.destinationId);
    // V1
    this.#configWait.whenKnown(delivery.configOffset, () => this.#guard(() => this.#submit(task, delivery)));
  }

  /** `notBeforeMonotonicMs`: on the monotonic clock, for `retry_after`. */
  #defer(pending: Pending, cause: DeferralCause, notBeforeMonotonicMs: number | null): void {
    const { isolation, schedule } = this.#parts;
    const plan = this.#planDeferral(pending, pending.progress, notBeforeMonotonicMs);
    if (plan.kind === "retry") this.#wait(pending, plan, cause);
    else if (plan.kind === "dead_letter") this.#bury(pending.task, pending.delivery, plan);
    // What it is owed goes with it, since it may have to come again later.
    else if (!isolation.submitLast({ ...pending, progress: plan.progress }))
      this.#wait(pending, planAdmissionHold({ schedule, progress: plan.progress }), cause);
  }

  /** G6: what becomes of the URLs that are left out of an attempt; a last one that they are owed comes with their own record. */
  #planParts(pending: Pending, parts: readonly DeferredPart[]): readonly FollowUp[] {
    const { schedule, metrics } = this.#parts;
    return parts.map(({ urls, cause, notBeforeMs }): FollowUp => {
      const plan = this.#planDeferral(pending, { ...pending.progress, urls }, notBeforeMs);
      if (plan.kind === "dead_letter") {
        return { ...plan, delivery: pending.delivery, lastAttempt: owedUrls(plan.progress, pending.destination) };
      }
      metrics.deferred.inc({ cause });
      return plan.kind === "retry" ? plan : planAdmissionHold({ schedule, progress: plan.progress });
    });
  }

  #planDeferral(
    { destination }: Pending,
    progress: DeliveryProgress,
    notBeforeMonotonicMs: number | null,
  ): ReturnType<typeof planDeferral> {
    const { clock, isolation, schedule } = this.#parts;
    const nowMs = clock.nowMs();
    const notBeforeMs =
      notBeforeMonotonicMs === null ? null : Math.ceil(nowMs + notBeforeMonotonicMs - clock.monotonicMs());
    return planDeferral({ schedule, progress, nowMs, notBeforeMs, waiting: isolation.awayOf(destination.id) });
  }

  #submit(task: Task<Intake>, delivery: Delivery): void {
    if (task.window.isRevoked) return;
    const { destinations, isolation, clock } = this.#parts;
    const destination = destinations.get(delivery.destinationId);
    if (destination === undefined) {
      this.#bury(task, delivery, { reason: "destination_removed", progress: task.item.progress });
    } else if (!destination.enabled || destination.urls.length === 0) {
      this.#bury(task, delivery, { reason: "destination_disabled", progress: task.item.progress });
    } else {
      const pending = toPending(task, delivery, destination);
      const { notBeforeMs } = pending.progress;
      // `settle: each`: the URLs that were left to serve are no longer the destination's; it can still be replayed.
      if (pending.requests === 0)
        this.#bury(task, delivery, { reason: "destination_removed", progress: task.item.progress });
      else if (destination.missingKeyIds !== null) this.#hold(pending, destination.missingKeyIds);
      else if (isWindowOver(pending.progress, clock.nowMs())) this.#defer(pending, "concurrency_limit", null);
      else if (notBeforeMs !== null && notBeforeMs > clock.nowMs()) this.#defer(pending, "retry_after", null);
      else if (task.item.turnedAway !== null) this.#defer(pending, task.item.turnedAway, null);
      else {
        this.#shutUrls(pending);
        isolation.submit(pending);
      }
    }
  }

  /** W5: what single URLs asked for in an earlier attempt, which another process may have made. */
  #shutUrls(pending: Pending): void {
    const { urlsNotBeforeMs } = pending.progress;
    if (urlsNotBeforeMs === null) return;
    const { isolation, clock } = this.#parts;
    for (const [url, momentMs] of Object.entries(urlsNotBeforeMs)) {
      const forMs = this.#shutForMs(momentMs, clock.nowMs());
      if (forMs > 0) isolation.shut(pending, url, forMs);
    }
  }

  /** No URL is left alone for longer than a retry window, whatever its receiver asks for. */
  #shutForMs(momentMs: number, nowMs: number): number {
    return Math.min(momentMs - nowMs, this.#parts.schedule.windowMs);
  }

  /** V2 */
  #hold(pending: Pending, missingKeyIds: readonly string[]): void {
    const { schedule, log, clock } = this.#parts;
    const { id } = pending.destination;
    if (!this.#reported.has(id)) {
      this.#reported.add(id);
      log.error(
        { event: "secret_key_unknown", destinationId: id, missingKeyIds },
        "deliveries are held until POSTHASTE_SECRET_KEYS holds the keys of these ids",
      );
    }
    this.#wait(pending, planHold({ schedule, progress: pending.progress, nowMs: clock.nowMs() }), "unknown_key");
  }

  #wait(pending: Pending, plan: FollowUp & { readonly kind: "retry" }, cause: DeferredCause): void {
    this.#parts.metrics.deferred.inc({ cause });
    this.#parts.isolation.wentAway(pending.destination.id);
    this.#parts.followUps.publish(pending.task, [plan]);
  }

  #bury(task: Task<Intake>, delivery: Delivery, { reason, progress }: Omit<DeadPlan, "kind">): void {
    const { destinations, followUps } = this.#parts;
    const lastAttempt = owedUrls(progress, destinations.get(delivery.destinationId));
    followUps.publish(task, [{ kind: "dead_letter", delivery, reason, progress, lastAttempt }]);
  }

  #settled(permit: DeliveryPermit, index: number, outcome: AttemptOutcome, details: OutcomeDetails): void {
    const { isolation, clock } = this.#parts;
    const { notBeforeMs } = details;
    const shutForMs = notBeforeMs === null ? null : this.#shutForMs(notBeforeMs, clock.nowMs());
    isolation.settled(permit, index, requestOutcome(outcome, details), shutForMs);
  }

  #settle(permit: DeliveryPermit, report: AttemptReport): void {
    const { clock, schedule } = this.#parts;
    const nowMs = clock.nowMs();
    const { task, delivery, progress, destination } = permit.request;
    if (report.urls.some(({ outcome }) => outcome === "delivered")) this.#observeDelivered(permit.request, nowMs);
    const leftOutTillMs = this.#leftOutTillMs(permit);
    const planned = planFollowUps({ delivery, progress, destination, report, leftOutTillMs, schedule, nowMs });
    const followUps =
      permit.deferred.length === 0 ? planned : [...planned, ...this.#planParts(permit.request, permit.deferred)];
    if (followUps.length === 0) task.finish();
    else this.#publish(task, followUps);
  }

  /** Under `settle: any`: when each URL that the attempt left out may be called, ms since the epoch or null. */
  #leftOutTillMs(permit: DeliveryPermit): readonly (number | null)[] {
    const { destination, requests } = permit.request;
    if (destination.settle !== "any" || permit.lines.length === requests) return ALL_CALLED;
    const { isolation, clock } = this.#parts;
    const toWallMs = clock.nowMs() - clock.monotonicMs();
    return isolation.leftOutTillMs(permit).map((moment) => (moment === null ? null : Math.ceil(moment + toWallMs)));
  }

  #publish(task: Task<Intake>, followUps: readonly FollowUp[]): void {
    const { isolation, followUps: publisher } = this.#parts;
    const destinationId = task.item.delivery?.destinationId ?? "";
    for (const { kind } of followUps) if (kind === "retry") isolation.wentAway(destinationId);
    publisher.publish(task, followUps);
  }

  #observeDelivered({ delivery, progress, destination }: Pending, nowMs: number): void {
    // Under `settle: each` a retry for some of the URLs is not the first to be taken.
    if (progress.urls !== null && progress.urls.length < destination.urls.length) return;
    this.#parts.metrics.endToEnd.record(Math.max(0, nowMs - delivery.receivedAtMs) / 1000);
  }

  #finish({ request }: DeliveryPermit, report: AttemptReport): void {
    const { attemptLog } = this.#parts;
    const { outcome } = report.settlement;
    if (attemptLog.skips(outcome === "delivered") || report.urls.length === 0) return;
    const { messageId, sourceId, destinationId, type } = request.delivery;
    attemptLog.add({
      messageId,
      sourceId,
      destinationId,
      type,
      attempt: request.progress.attempts + 1,
      startedAtMs: report.startedAtMs,
      outcome,
      urls: toLoggedUrls(request.destination.responseLog, report.urls),
    });
  }
}

const ALL_CALLED: readonly null[] = [];
