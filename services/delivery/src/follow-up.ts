/**
 * What is published because of an attempt, or instead of one: a record in a retry topic, or a dead letter.
 *
 * F1  A record is finished only when its republish was acknowledged (C2). A republish that cannot be sent keeps its record in
 *     the window: the producer sends again for as long as it is open.
 * F2  The value of a retry record is the value of the record it follows, byte for byte; only headers change (W2).
 * F3  A record whose partition was given up is not republished: its new owner reads it again and would do so too.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { encodeProgress, REPUBLISHED_AT_HEADER, REPUBLISHED_FROM_HEADER } from "@posthaste/contracts/headers";
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import type { DeadLetter, DeadLetterReason, DeadUrl } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import type { RetryPlan } from "@posthaste/core/delivery/retry-plan";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { DeliveryMetrics } from "./metrics.ts";
import type { Intake } from "./pending.ts";

/** A delivery, or some of its URLs, given up. */
export interface Burial {
  readonly kind: "dead_letter";
  readonly delivery: Delivery;
  readonly reason: DeadLetterReason;
  readonly progress: DeliveryProgress;
  /** What the URLs answered in the attempt that ended it; empty when there was none. */
  readonly lastAttempt: readonly DeadUrl[];
}

export type FollowUp = RetryPlan | Burial;

export interface FollowUpsOptions {
  readonly names: TopicNames;
  readonly producer: Producer;
  readonly codec: Codec<DeadLetter>;
  readonly metrics: DeliveryMetrics;
  readonly nowMs: () => number;
  /** A republished record failed for good: a bug. */
  readonly onFailure: (reason: Error) => void;
}

export class FollowUps {
  readonly #options: FollowUpsOptions;

  constructor(options: FollowUpsOptions) {
    this.#options = options;
  }

  /** Publishes all of them and finishes the task when they are acknowledged. */
  publish(task: Task<Intake>, followUps: readonly FollowUp[]): void {
    if (task.window.isRevoked) return;
    const records = followUps.map((followUp, index) => this.#toRecord(task, followUp, index));
    this.#options.producer.send(records).then(
      () => {
        this.#count(followUps);
        task.finish();
      },
      (error: unknown) => {
        // The producer was closed under it: the process is ending, and the record will be read again.
        if (!isPosthasteError(error, "closed")) this.#options.onFailure(error as Error);
      },
    );
  }

  #toRecord({ record, window }: Task<Intake>, followUp: FollowUp, index: number): OutgoingRecord {
    const { names, codec, nowMs } = this.#options;
    if (followUp.kind === "retry") {
      return {
        topic: retryTopicName(names, followUp.delayMs),
        key: record.key,
        value: record.value,
        headers: {
          ...encodeProgress(followUp.progress),
          [REPUBLISHED_FROM_HEADER]: placeOf(record, window.topicId, index),
          [REPUBLISHED_AT_HEADER]: String(Math.round(nowMs())),
        },
      };
    }
    const { delivery, reason, progress, lastAttempt } = followUp;
    const { attempts, deferrals, windowStartMs } = progress;
    const letter: DeadLetter = {
      ...delivery,
      reason,
      deadAtMs: nowMs(),
      attempts,
      deferrals,
      windowStartMs,
      lastAttempt,
    };
    return { topic: names.deadLetters, key: record.key, value: codec.encode(letter) };
  }

  #count(followUps: readonly FollowUp[]): void {
    for (const followUp of followUps) {
      if (followUp.kind === "dead_letter") this.#options.metrics.deadLetters.inc({ reason: followUp.reason });
    }
  }
}

/**
 * Names one of the republished records of a record: under `settle: each` there may be several. By the topic's id, since of a topic that was made
 * anew other records stand at the same offsets, and none of them is a copy of what still waits from before.
 */
function placeOf({ topic, partition, offset }: IncomingRecord, topicId: string | undefined, index: number): string {
  return `${topicId ?? topic}/${partition}/${offset}/${index}`;
}
