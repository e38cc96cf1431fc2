/**
 * The first stage of a delivery: intake drops a record whose turn in its lane has come, puts it aside, or passes it to
 * the check.
 *
 * Owns: the timers of retries that wait for their jitter, and the gate that finds second copies.
 * A1  Intake quarantines a record that no schema reads, and finishes it when the brokers have acknowledged that. It
 *     finishes the second copy of a republished record (W6). It passes every other record to the check once.
 * - A first attempt does not wait in intake. A retry waits for its jitter, which starts when the retry is due, so that
 *   its topic stays in due order (W6). The jitter ends before the delivery's retry window does (V5 of `check.ts`).
 * A3  After `close`, and after a partition was given up, intake passes nothing on: a retry that waits for its jitter
 *     stays in its window, for the partition's next owner to read.
 */

import { jitterMs } from "@posthaste/core/delivery/backoff";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { RetrySchedule } from "@posthaste/core/delivery/retry-plan";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
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
  /** Returns at least 0 and below 1. */
  readonly random: () => number;
  /** The delay of a retry topic, in ms. */
  readonly delayMsOf: (topic: string) => number;
  readonly unreadable: Pick<UnreadableRecords, "put">;
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
    const { delivery, unreadable, isRetry } = task.item;
    if (delivery === null) this.#quarantine(task, unreadable);
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

  #quarantine(task: Task<IncomingDelivery>, reason: PosthasteError | null): void {
    const { unreadable, metrics, onFailure } = this.#options;
    const error = reason ?? new PosthasteError("invalid_input", "no delivery");
    unreadable.put(task.record, error).then(
      () => {
        metrics.unreadable.inc();
        task.finish();
      },
      (refusal: unknown) => {
        // The producer was closed meanwhile: the process is ending, and another process will read the record again.
        if (!isPosthasteError(refusal, "closed")) onFailure(toError(refusal));
      },
    );
  }

  /**
   * Whether the record is a second copy. Under `settle: each` one record may have been republished for several groups
   * of URLs; only records with equal URLs are copies of one another.
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
