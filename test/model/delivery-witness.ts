/**
 * Watches deliveries: those in the log, and those attempted, taken by a receiver, republished and given up.
 *
 * Owns: an index of the deliveries, the republished records and the dead letters that were written, and every attempt.
 * DW0  Nothing is sent from a partition that was given up.
 * DW1  A task is finished only for a reason: taken by a receiver, republished, given up, or a second copy (C2).
 * DW2  A second copy of an origin is never attempted, nor, in one process, a second copy of a republished record (W6).
 * DW3  A destination that the process knows to be removed, switched off or changed is not sent to as it was (V3 of
 *      destination-check.ts).
 * DW4  After a Retry-After its URL is left in peace by that process till then (W5), but for last attempts.
 * DW5  No more requests a second than the destination's rate allows.
 * DW6  After the window's end there are no attempts but the last one of a delivery that is owed it: it was never
 *      attempted (I3), or waited for a receiver that asked for peace.
 * - A delivery that was given up when its window ended was attempted before (I3), and a delivery that was given up for
 *   want of its destination had none (V1 of check.ts).
 * DW8  A record of a retry topic waits for its delay (W1), where no clock is stepped.
 */

import type { Codec } from "@posthaste/contracts/codec";
import { REPUBLISHED_FROM_HEADER } from "@posthaste/contracts/headers";
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import { OriginCheckpoint } from "@posthaste/core/delivery/origin";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { UrlResult } from "@posthaste/webhook/report";
import { nameOf } from "./commit-witness.ts";
import { type LogRecord, type ModelLog, type PartitionLog, topicIdOf } from "./model-log.ts";

/** One POST to the URLs of a destination. */
export interface AttemptSeen {
  readonly processId: string;
  readonly record: IncomingRecord;
  readonly isRetry: boolean;
  readonly delivery: Delivery;
  readonly progress: DeliveryProgress;
  readonly destination: Destination;
  readonly urls: readonly string[];
  /** It goes whatever stands against it, at the end of its window. */
  readonly isLast: boolean;
  readonly startedMs: number;
  /** By the process's own clock, which may be off. */
  readonly startedByClockMs: number;
}

export interface DeadSeen {
  readonly deadLetter: DeadLetter;
  readonly record: LogRecord;
}

export interface DeliveryWitnessOptions {
  readonly log: ModelLog;
  readonly names: TopicNames;
  readonly deliveryCodec: Codec<Delivery>;
  readonly deadLetterCodec: Codec<DeadLetter>;
  readonly windowMs: number;
  /** No clock is stepped in this run. */
  readonly clocksAreTrue: boolean;
  readonly onViolation: (what: string) => void;
}

export class DeliveryWitness {
  readonly #options: DeliveryWitnessOptions;
  readonly attempts: AttemptSeen[] = [];
  readonly deadLetters: DeadSeen[] = [];
  /** First copies in the deliveries topic, by origin and destination. */
  readonly first = new Map<string, { readonly record: LogRecord; readonly delivery: Delivery }>();
  /** URLs that took a delivery, by origin and destination. */
  readonly taken = new Map<string, Set<string>>();
  readonly #secondCopies = new Set<string>();
  readonly #passedOver = new Set<string>();
  /** By partition: which messages have a delivery to which destination there. */
  readonly #messages = new Map<number, Set<string>>();
  readonly #laterCopies = new Set<string>();
  readonly #checkpoints = new Map<number, OriginCheckpoint>();
  /** Places that a record was republished from, by the topic's id, with the records written. */
  readonly #republished = new Map<string, LogRecord[]>();
  readonly #republishedSinceMs = new Map<string, number>();
  /** By process and origin. */
  readonly #deferredOnArrivalMs = new Map<string, number>();
  /** Republished records by the origin that they name. */
  readonly #copies = new Map<string, LogRecord[]>();
  /** By record: URLs that took it from there. */
  readonly #takenFrom = new Map<string, Set<string>>();
  readonly #dead = new Map<string, DeadSeen[]>();
  readonly #attemptedRepublishes = new Map<string, string>();
  readonly #peaceUntilMs = new Map<string, { readonly untilMs: number; readonly revision: number }>();
  readonly #requests = new Map<string, number[]>();

  constructor(options: DeliveryWitnessOptions) {
    this.#options = options;
    options.log.onAppend((partition, record) => {
      if (record !== null) this.#onAppend(partition, record);
    });
  }

  /**
   * An earlier record in its partition says that this was written before (D2), though it was not: a router whose table
   * lacked the destination wrote the event first.
   */
  isPassedOver(record: LogRecord): boolean {
    return this.#passedOver.has(nameOf(record));
  }

  /**
   * Whether its event is a repeat of a call (the same message id) whose delivery stands earlier in the partition: of
   * two routers the one that saw both calls wrote the first alone and went on, and the one that came after it, without
   * its memory, wrote the second below.
   */
  isLaterCopyOfMessage(record: LogRecord): boolean {
    return this.#laterCopies.has(nameOf(record));
  }

  isSecondCopy(record: LogRecord): boolean {
    return this.#secondCopies.has(nameOf(record));
  }

  /** A process defers it as it arrives: it waits for no turn in its lane, and none of its lane waits for it. */
  deferredOnArrival(processId: string, delivery: Delivery, atMs: number): void {
    const deferral = `${processId} ${originOf(delivery)}`;
    if (!this.#deferredOnArrivalMs.has(deferral)) this.#deferredOnArrivalMs.set(deferral, atMs);
  }

  /**
   * Whether the process that made this attempt had deferred the delivery of `origin` before. That one gave up its turn
   * there, also where the process was cut off from the brokers and its republished record never arrived.
   */
  gaveUpItsTurn(origin: string, { processId, startedMs }: AttemptSeen): boolean {
    return (this.#deferredOnArrivalMs.get(`${processId} ${origin}`) ?? Number.POSITIVE_INFINITY) <= startedMs;
  }

  /** Whether it stood in a retry topic at the moment. */
  wasRepublished(origin: string, atMs: number): boolean {
    return (this.#republishedSinceMs.get(origin) ?? Number.POSITIVE_INFINITY) <= atMs;
  }

  deadOf(origin: string): readonly DeadSeen[] {
    return this.#dead.get(origin) ?? [];
  }

  /** A record is run: DW8. */
  started(processId: string, record: IncomingRecord, nowMs: number): void {
    const { names, log, clocksAreTrue } = this.#options;
    const delayMs = delayMsFromRetryTopic(names, record.topic);
    if (delayMs === null || !clocksAreTrue) return;
    const [written] = log.partition(record.topic, record.partition).from(record.offset, 1);
    const waitedMs = nowMs - (written?.writtenMs ?? 0);
    if (waitedMs < delayMs - 1)
      this.#options.onViolation(`DW8 ${processId} runs ${nameOf(record)} after ${waitedMs} ms`);
  }

  attempted(attempt: AttemptSeen, current: Destination | undefined, republish: string | undefined): void {
    const { processId, record, delivery, progress, destination, urls, startedMs, isLast } = attempt;
    this.attempts.push(attempt);
    const where = `${processId} attempts ${nameOf(record)} (${originOf(delivery)}, ${JSON.stringify(progress)}, by its clock ${attempt.startedByClockMs})`;
    const violated = (rule: string, what: string) => this.#options.onViolation(`${rule} ${where}: ${what}`);
    if (!attempt.isRetry && this.#secondCopies.has(nameOf(record)))
      violated("DW2", "it is a second copy of its origin");
    if (republish !== undefined) {
      const key = `${processId} ${republish} ${progress.urls?.join(" ") ?? ""}`;
      const before = this.#attemptedRepublishes.get(key);
      if (before !== undefined && before !== nameOf(record))
        violated("DW2", "it is a second copy of its republished record");
      this.#attemptedRepublishes.set(key, nameOf(record));
    }
    if (current !== destination) violated("DW3", "its destination was changed or removed, and the process knows");
    else if (!destination.enabled) violated("DW3", "its destination is switched off");
    const { deadlineMs, attempts } = progress;
    const askedForPeace = (url: string) => this.#peaceUntilMs.has(`${processId} ${destination.id} ${url}`);
    const isOwed = attempts === 0 || progress.notBeforeMs !== null || urls.some(askedForPeace);
    if (deadlineMs !== null && attempt.startedByClockMs > deadlineMs && !(isLast && isOwed)) {
      violated("DW6", `its window ended ${attempt.startedByClockMs - deadlineMs} ms ago, and it was attempted before`);
    }
    for (const url of urls) {
      const peace = this.#peaceUntilMs.get(`${processId} ${destination.id} ${url}`);
      if (peace === undefined || isLast || destination.revision !== peace.revision) continue;
      if (startedMs < peace.untilMs - 1)
        violated("DW4", `${url} asked for peace for ${peace.untilMs - startedMs} ms more`);
    }
    this.#checkRate(attempt, violated);
  }

  tookIt(attempt: AttemptSeen, url: string): void {
    const origin = originOf(attempt.delivery);
    add(this.taken, origin, url);
    add(this.#takenFrom, nameOf(attempt.record), url);
  }

  /** A URL has its outcome; `clockMs` is the process's own. */
  answered(
    { processId, destination }: AttemptSeen,
    { url, notBeforeMs }: UrlResult,
    nowMs: number,
    clockMs: number,
  ): void {
    if (notBeforeMs === null) return;
    // No longer than the window.
    const untilMs = nowMs + Math.min(notBeforeMs - clockMs, this.#options.windowMs);
    this.#peaceUntilMs.set(`${processId} ${destination.id} ${url}`, { untilMs, revision: destination.revision });
  }

  /** DW1. */
  finished(
    processId: string,
    record: IncomingRecord,
    item: { delivery: Delivery | null; progress: DeliveryProgress },
  ): void {
    const { delivery, progress } = item;
    if (delivery === null) return;
    const place = nameOf(record);
    const republished = this.#republished.get(nameOf({ ...record, topic: topicIdOf(record.topic) }));
    if (republished !== undefined && republished.length > 0) return;
    const took = this.#takenFrom.get(place);
    if (took !== undefined && (progress.urls === null || progress.urls.every((url) => took.has(url)))) return;
    if (this.deadOf(originOf(delivery)).length > 0) return;
    const from = record.headers[REPUBLISHED_FROM_HEADER];
    if (from !== undefined && (this.#copies.get(String(from))?.length ?? 0) > 1) return;
    this.#options.onViolation(`DW1 ${processId} finished ${place} (${originOf(delivery)}) for no reason`);
  }

  #onAppend({ topic }: PartitionLog, record: LogRecord): void {
    const { names, deliveryCodec, deadLetterCodec } = this.#options;
    if (record.value === null) return;
    if (topic === names.deliveries) {
      const delivery = deliveryCodec.decode(record.value);
      const origin = originOf(delivery);
      if (this.first.has(origin)) this.#secondCopies.add(nameOf(record));
      else this.first.set(origin, { record, delivery });
      const checkpoint = this.#checkpoints.get(record.partition) ?? new OriginCheckpoint();
      this.#checkpoints.set(record.partition, checkpoint);
      if (checkpoint.isRepeat(delivery)) this.#passedOver.add(nameOf(record));
      checkpoint.note(delivery);
      this.#noteMessage(record, delivery);
    } else if (topic === names.deadLetters) {
      const seen = { deadLetter: deadLetterCodec.decode(record.value), record };
      this.deadLetters.push(seen);
      const origin = originOf(seen.deadLetter);
      const deadLetters = this.#dead.get(origin);
      if (deadLetters === undefined) this.#dead.set(origin, [seen]);
      else deadLetters.push(seen);
    } else if (topic.startsWith(names.retryPrefix)) {
      const from = record.headers[REPUBLISHED_FROM_HEADER] ?? "";
      const place = from.slice(0, from.lastIndexOf("/"));
      push(this.#republished, place, record);
      push(this.#copies, from, record);
      const origin = originOf(deliveryCodec.decode(record.value));
      if (!this.#republishedSinceMs.has(origin)) this.#republishedSinceMs.set(origin, record.writtenMs);
    }
  }

  #noteMessage(record: LogRecord, { messageId, destinationId }: Delivery): void {
    const messages = this.#messages.get(record.partition) ?? new Set();
    this.#messages.set(record.partition, messages);
    const message = `${messageId} ${destinationId}`;
    if (messages.has(message)) this.#laterCopies.add(nameOf(record));
    messages.add(message);
  }

  /** DW5: in no second more than the rate, the burst, and one attempt of five that overdraws. */
  #checkRate(attempt: AttemptSeen, violated: (rule: string, what: string) => void): void {
    const { processId, destination, urls, startedMs } = attempt;
    const rate = destination.rateLimitPerSecond;
    const key = `${processId} ${destination.id} ${destination.revision}`;
    if (rate === null) return;
    const times = this.#requests.get(key) ?? [];
    for (const _ of urls) times.push(startedMs);
    this.#requests.set(key, times);
    const lately = times.filter((at) => at > startedMs - 1000).length;
    const most = rate + Math.max(1, rate * 0.1) + 5;
    if (lately > most) violated("DW5", `${lately} requests in a second at a rate of ${rate}`);
  }
}

/** Names a delivery for ever: the event's place and the destination. */
export function originOf({ originPartition, originOffset, destinationId }: Delivery): string {
  return `${originPartition}/${originOffset}/${destinationId}`;
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function push(lists: Map<string, LogRecord[]>, key: string, record: LogRecord): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [record]);
  else list.push(record);
}
