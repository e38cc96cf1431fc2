/**
 * The first stage of a delivery: a record whose turn in its lane has come is dropped, or passed to the check.
 *
 * Owns: the timers of retries that wait for their jitter, and the gate that knows second copies.
 * A1  Intake finishes a record that no schema reads, and the second copy of a republished record (W6). It passes every
 *     other record to the check once.
 * A2  A first attempt waits for nothing here. A retry waits for its jitter, which starts when the retry is due, so that
 *     its topic stays in due order (W6); the jitter ends before the delivery's retry window does (V5 of `check.ts`).
 * A3  After `close`, and after a partition was given up, intake passes nothing on: what waits for its jitter stays in
 *     its window, for the partition's next owner to read.
 */

import { jitterMs } from "@posthaste/core/delivery/backoff";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { DeliveryMetrics } from "../metrics.ts";
import { toError } from "../to-error.ts";
import type { CheckPort } from "./check-port.ts";
import { DueGate } from "./due-gate.ts";
import type { IncomingDelivery } from "./incoming-delivery.ts";

export interface IntakeOptions {
  readonly check: CheckPort;
  /** Counts the destination's deliveries in retry topics (I2). */
  readonly retryBacklog: { remove(destinationId: string): void };
  readonly schedule: RetrySchedule;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  /** Answers 0 up to but not including 1. */
  readonly random: () => number;
  /** The delay of a retry topic, in ms. */
  readonly delayMsOf: (topic: string) => number;
  readonly log: Log;
  /** Intake or a later stage threw where nobody catches: a bug. */
  readonly onFailure: (reason: Error) => void;
}

export class Intake {
  readonly #options: IntakeOptions;
  readonly #dueGate = new DueGate();
  readonly #jittering = new Set<NodeJS.Timeout>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Starts the work on a record. A later stage finishes its task. */
  run(task: Task<IncomingDelivery>): void {
    const { delivery, isRetry } = task.item;
    if (delivery === null) this.#dropUnreadable(task);
    else if (!isRetry) this.#pass(task, delivery);
    else if (this.#isSecondCopy(task)) task.finish();
    else this.#passAfterJitter(task, delivery);
  }

  close(): void {
    for (const timer of this.#jittering) clearTimeout(timer);
    this.#jittering.clear();
  }

  #pass(task: Task<IncomingDelivery>, delivery: Delivery): void {
    if (task.window.isRevoked) return;
    const { check, retryBacklog } = this.#options;
    if (task.item.isRetry) retryBacklog.remove(delivery.destinationId);
    check.check(task, delivery);
  }

  #dropUnreadable(task: Task<IncomingDelivery>): void {
    const { topic, partition, offset } = task.record;
    this.#options.log.error({ event: "delivery_unreadable", topic, partition, offset });
    this.#options.metrics.unreadable.inc();
    task.finish();
  }

  /**
   * Under `settle: each` another attempt may republish other URLs from the same record: only equal URLs make a copy.
   */
  #isSecondCopy({ item, record }: Task<IncomingDelivery>): boolean {
    const { republishedFrom, progress } = item;
    if (republishedFrom === undefined) return false;
    const republish = progress.urls === null ? republishedFrom : `${republishedFrom} ${progress.urls.join(" ")}`;
    if (!this.#dueGate.isRepeat(republish, `${record.topic}/${record.partition}/${record.offset}`)) return false;
    this.#options.metrics.repeats.inc({ kind: "hand_off" });
    return true;
  }

  #passAfterJitter(task: Task<IncomingDelivery>, delivery: Delivery): void {
    const { delayMsOf, schedule, random, clock, onFailure } = this.#options;
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
        try {
          this.#pass(task, delivery);
        } catch (error) {
          onFailure(toError(error));
        }
      },
      Math.min(jitterMs(terms, random()), leftMs),
    );
    this.#jittering.add(timer);
  }
}
