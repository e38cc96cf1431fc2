/**
 * The outcome publisher: it writes follow-ups to the retry topics and to the dead letters, and then finishes the record
 * that they follow.
 *
 * Owns nothing: its caller owns the producer, which holds the records that are not acknowledged.
 * F1  A record is finished only when the brokers acknowledged all of its follow-ups (C2). While follow-ups cannot be
 *     sent, the record stays in its window, and the producer sends them again for as long as it is open.
 * F2  The value of a retry record equals the value of the record that it follows, byte for byte; only headers change
 *     (W2).
 *     While traces are on, the `traceparent` of the delivery goes along, in dead letters too.
 * F3  Nothing follows a record whose partition was given up: the partition's new owner reads the record again and
 *     publishes its follow-ups.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { encodeProgress, REPUBLISHED_AT_HEADER, REPUBLISHED_FROM_HEADER } from "@posthaste/contracts/headers";
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import { withTraceparent } from "@posthaste/contracts/trace-header";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import { toDeadLetterRecord } from "./dead-letter-record.ts";
import type { FollowUp } from "./follow-ups.ts";

export interface OutcomePublisherOptions {
  readonly names: TopicNames;
  readonly producer: Producer;
  readonly codec: Codec<DeadLetter>;
  readonly metrics: DeliveryMetrics;
  readonly nowMs: () => number;
  /** The producer refused follow-ups for good: a bug. */
  readonly onFailure: (reason: Error) => void;
}

export class OutcomePublisher {
  readonly #options: OutcomePublisherOptions;

  constructor(options: OutcomePublisherOptions) {
    this.#options = options;
  }

  /** Publishes all follow-ups in one call, and finishes the task when they are acknowledged. */
  publish(task: Task<IncomingDelivery>, followUps: readonly FollowUp[]): void {
    if (task.window.isRevoked) return;
    const records = followUps.map((followUp, index) => this.#toRecord(task, followUp, index));
    const { traceparent } = task.item;
    const traced = traceparent === undefined ? records : withTraceparent(records, traceparent);
    this.#options.producer.send(traced).then(
      () => {
        this.#count(followUps);
        task.finish();
      },
      (error: unknown) => {
        // The producer was closed meanwhile: the process is ending, and another process will read the record again.
        if (!isPosthasteError(error, "closed")) this.#options.onFailure(error as Error);
      },
    );
  }

  #toRecord({ record, window }: Task<IncomingDelivery>, followUp: FollowUp, index: number): OutgoingRecord {
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
    return toDeadLetterRecord(followUp, { names, codec, key: record.key, deadAtMs: nowMs() });
  }

  #count(followUps: readonly FollowUp[]): void {
    for (const followUp of followUps) {
      if (followUp.kind === "dead_letter") this.#options.metrics.deadLetters.inc({ reason: followUp.reason });
    }
  }
}

/**
 * The name of a retry record: the place of the record that it follows and, since under `settle: each` several may
 * follow one, its `index` among them. The place has the topic's id: when a topic is recreated, other records stand at
 * the same offsets, and they are no copies of retry records that still wait.
 */
function placeOf({ topic, partition, offset }: IncomingRecord, topicId: string | undefined, index: number): string {
  return `${topicId ?? topic}/${partition}/${offset}/${index}`;
}
