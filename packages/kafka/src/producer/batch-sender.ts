/**
 * Moves a producer's batches: it takes ready batches off the queue, sends them to the partitions' leaders, and acts on
 * the answers (rules P1 to P3).
 *
 * Owns: the channels to the brokers, the troubles of partitions, and one timer.
 * BS1  Each broker gets one request with the batches that can be sent now: one of every partition that the broker
 *      leads, that has records and no batch out, as far as the request has space.
 * - A partition whose answer is an error, and a partition without a leader, is tried again by itself. The answer counts
 *   for the other partitions of the request.
 * - A request without an answer throws its own channel away and no other.
 * BS4  At most one question for the leaders is out, however many partitions are in trouble and however long the answer
 *      takes: nothing grows while no broker answers.
 * BS5  A ready partition that was not sent waits for an answer, for the end of a pause, or for the leaders. Each of
 *      these events looks at all ready partitions again, so records that join such a partition need no look of their
 *      own.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import {
  describe,
  FAILURE_CAUSES,
  type FailureCause,
  failureCause,
  isRefusedRecord,
  isTimedOut,
} from "../connection/kafka-errors.ts";
import { errorOfCode, type PartitionAnswer } from "../kafkajs/kafkajs-internals.ts";
import { codesIn } from "./answer.ts";
import { type Channel, type MakeBrokerClient, ProducerChannels } from "./channels.ts";
import type { GroupCommitQueue } from "./group-commit.ts";
import type { BrokerPlace, PartitionLeaders } from "./partition-leaders.ts";
import type { PartitionBatch, PartitionQueue } from "./partition-queue.ts";
import { PartitionTroubles, type Trouble } from "./partition-troubles.ts";
import { MAX_BATCH_BYTES } from "./place-record.ts";

export interface BatchSenderOptions {
  readonly queue: GroupCommitQueue;
  readonly leaders: PartitionLeaders;
  readonly makeClient: MakeBrokerClient;
  readonly connection: Pick<KafkaConnection, "log" | "metrics">;
  /** The label `class` of the metrics. */
  readonly name: string;
  readonly clock: Clock;
  /** A request was answered or failed: records may have been acknowledged. */
  readonly onExchanged: () => void;
}

/**
 * Bytes of a whole request. A broker closes the connection at 100 MB (`socket.request.max.bytes`). A record costs no
 * more in a request of four full partitions than of forty, and less is copied on the way to the socket.
 */
export const MAX_REQUEST_BYTES = 4_000_000;
/** The most partitions that a log line names. */
const MAX_LOGGED_PARTITIONS = 20;

/** The batches for one broker in one request. */
interface Request {
  readonly queues: PartitionQueue[];
  readonly batches: PartitionBatch[];
  bytes: number;
}

interface Unwritten {
  readonly queue: PartitionQueue;
  readonly error: Error;
}

export class BatchSender {
  readonly #options: BatchSenderOptions;
  readonly #troubles = new PartitionTroubles();
  readonly #channels: ProducerChannels;
  #isDue = false;
  /**
   * Whether a question for the leaders is out, and whether another must follow it for partitions that failed meanwhile.
   */
  #asking: "no" | "once" | "once more" = "no";
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  /** Ends the gauges' look at this sender. */
  readonly #unwatch: (() => void) | undefined;

  constructor(options: BatchSenderOptions) {
    this.#options = options;
    this.#channels = new ProducerChannels(options.makeClient, options.clock);
    const { connection, name, queue } = options;
    connection.metrics?.producerReplaced.inc({ class: name }, 0);
    for (const cause of FAILURE_CAUSES) connection.metrics?.producerFailures.inc({ class: name, cause }, 0);
    this.#unwatch = connection.metrics?.watchProducer(name, () => ({
      pendingBytes: queue.pendingBytes,
      oldestPendingMs: this.#oldestPendingMs,
      unwrittenPartitions: this.#troubles.size,
    }));
  }

  /**
   * Sends in a microtask, so that all records of one task of the event loop go together. The producer calls it when a
   * partition became ready (BS5).
   */
  sendSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => this.#sendReady());
  }

  /** Sends nothing more, and does not wait for the requests that are out. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#channels.close();
    this.#unwatch?.();
  }

  /** Sends the batches that are ready (BS1). */
  #sendReady(): void {
    this.#isDue = false;
    if (this.#isClosed) return;
    const { queue, leaders } = this.#options;
    const nowMs = this.#options.clock.monotonicMs();
    const requests = new Map<Channel, Request>();
    const toAsk: PartitionQueue[] = [];
    const leaderless: Unwritten[] = [];
    for (const ready of queue.ready) {
      const step = this.#troubles.nextStep(ready, nowMs);
      const leader = leaders.leaderOf(ready.topic, ready.partition);
      if (step === "ask") toAsk.push(ready);
      else if (step !== "send") this.#wakeAt(step.waitsUntilMs);
      else if (leader === undefined) leaderless.push({ queue: ready, error: noLeaderError() });
      else this.#gather(ready, leader, requests, nowMs);
    }
    for (const [channel, request] of requests) void this.#exchange(channel, request);
    this.#onUnwritten(leaderless);
    if (toAsk.length > 0) this.#askLeaders(toAsk, nowMs);
  }

  #askLeaders(queues: readonly PartitionQueue[], nowMs: number): void {
    this.#troubles.asked(queues, nowMs);
    if (this.#asking === "no") void this.#ask();
    else this.#asking = "once more";
    // Looks at the partitions again, which sets the timer that ends their wait for the leaders (PT3 of
    // partition-troubles.ts).
    this.sendSoon();
  }

  /** Asks for the leaders, and again if partitions came to wait for them since the last question began (BS4). */
  async #ask(): Promise<void> {
    do {
      this.#asking = "once";
      const onAnswered = this.#troubles.asking();
      await this.#options.leaders.refresh();
      onAnswered();
      this.sendSoon();
    } while (this.#wasAskedMeanwhile() && !this.#isClosed);
    this.#asking = "no";
  }

  #wasAskedMeanwhile(): boolean {
    return this.#asking === "once more";
  }

  /**
   * Moves the partition's batch into the request of its leader's channel, unless that channel has a request out or its
   * request is full.
   */
  #gather(queue: PartitionQueue, leader: BrokerPlace, requests: Map<Channel, Request>, nowMs: number): void {
    const isAlone = this.#troubles.of(queue)?.isTimeout ?? false;
    const channel = isAlone ? this.#channels.aside(leader) : this.#channels.shared(leader, nowMs);
    if (channel === null) {
      const againAtMs = this.#channels.setAsideAtMs(leader);
      if (againAtMs !== null) this.#wakeAt(againAtMs);
      return;
    }
    const request = requests.get(channel) ?? { queues: [], batches: [], bytes: 0 };
    if (request.bytes + MAX_BATCH_BYTES > MAX_REQUEST_BYTES) return;
    requests.set(channel, request);
    const batch = this.#options.queue.take(queue);
    request.queues.push(queue);
    request.batches.push(batch);
    request.bytes += batch.bytes;
  }

  async #exchange(channel: Channel, { queues, batches }: Request): Promise<void> {
    const startedAtMs = this.#options.clock.monotonicMs();
    const deadlineMs = Math.max(...queues.map((queue) => this.#troubles.deadlineMsOf(queue)));
    const outcome = await channel.send(batches, deadlineMs);
    if (this.#isClosed) return;
    if ("answers" in outcome) {
      this.#channels.answered(channel);
      this.#onAnswered(queues, outcome.answers);
      const seconds = (this.#options.clock.monotonicMs() - startedAtMs) / 1000;
      this.#options.connection.metrics?.producerSendSeconds.observe({ class: this.#options.name }, seconds);
    } else {
      this.#channels.failed(channel);
      this.#onFailed(queues, outcome.failure, outcome.isTimeout);
    }
    this.#options.onExchanged();
    this.#sendReady();
  }

  #onAnswered(queues: readonly PartitionQueue[], answers: readonly PartitionAnswer[]): void {
    const codeOf = codesIn(answers);
    const unwritten: Unwritten[] = [];
    for (const queue of queues) {
      const code = codeOf(queue.topic, queue.partition);
      const error = errorOf(code);
      if (error !== null) this.#countFailure(failureCause(code && error), 1);
      if (error === null) this.#options.queue.acknowledge(queue);
      else if (isRefusedRecord(error)) this.#options.queue.refuse(queue, refusedError(error));
      else {
        this.#options.queue.fail(queue);
        unwritten.push({ queue, error });
        continue;
      }
      if (this.#troubles.succeeded(queue)) {
        this.#options.connection.log.info(this.#fields("producer_recovered"), "sending works again");
      }
    }
    this.#onUnwritten(unwritten);
  }

  /** The request failed, and its channel was thrown away (P2). */
  #onFailed(queues: readonly PartitionQueue[], failure: unknown, isTimeout: boolean): void {
    const { connection, name } = this.#options;
    connection.metrics?.producerReplaced.inc({ class: name });
    this.#countFailure(isTimeout ? "deadline" : failureCause(failure), queues.length);
    for (const queue of queues) this.#options.queue.fail(queue);
    const troubles = queues.map((queue) => this.#troubled(queue, isTimeout));
    if (!PartitionTroubles.isLogged(troubles)) return;
    const failures = Math.max(...troubles.map((trouble) => trouble.failures));
    const fields = { ...this.#fields("producer_replaced"), failures, reason: describe(failure) };
    connection.log.warn(fields, "a send failed: sending again with a new connection");
  }

  /** Brokers answered that these partitions could not be written, or the partitions have no leader. */
  #onUnwritten(unwritten: readonly Unwritten[]): void {
    const troubles = unwritten.map(({ queue, error }) => this.#troubled(queue, isTimedOut(error)));
    if (!PartitionTroubles.isLogged(troubles)) return;
    const fields = {
      ...this.#fields("partitions_unwritten"),
      failures: Math.max(...troubles.map((trouble) => trouble.failures)),
      partitions: unwritten.slice(0, MAX_LOGGED_PARTITIONS).map(({ queue }) => `${queue.topic}/${queue.partition}`),
      reason: describe(unwritten[0]?.error),
    };
    this.#options.connection.log.warn(fields, "partitions cannot be written: sending to them again");
  }

  /** Notes that the partition failed. It is tried again when its pause is over. */
  #troubled(queue: PartitionQueue, isTimeout: boolean): Trouble {
    const trouble = this.#troubles.failed(queue, isTimeout, this.#options.clock.monotonicMs());
    this.#wakeAt(trouble.dueAtMs);
    return trouble;
  }

  #wakeAt(atMs: number): void {
    if (atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(
      () => {
        this.#timerAtMs = Number.POSITIVE_INFINITY;
        this.#sendReady();
      },
      Math.max(0, Math.ceil(atMs - this.#options.clock.monotonicMs())),
    );
  }

  #fields(event: string): Record<string, unknown> {
    const { name, queue } = this.#options;
    return { event, producer: name, pendingBytes: queue.pendingBytes, oldestPendingMs: this.#oldestPendingMs };
  }

  get #oldestPendingMs(): number {
    const { oldestSinceMs } = this.#options.queue;
    return oldestSinceMs === null ? 0 : this.#options.clock.monotonicMs() - oldestSinceMs;
  }

  #countFailure(cause: FailureCause, partitions: number): void {
    const { connection, name } = this.#options;
    connection.metrics?.producerFailures.inc({ class: name, cause }, partitions);
  }
}

function noLeaderError(): PosthasteError {
  return new PosthasteError("broker_unavailable", "there is no leader", { retryable: true });
}

/** The error that the code of a partition's answer stands for; null for 0. */
function errorOf(code: number | undefined): Error | null {
  if (code === 0) return null;
  return code === undefined ? unnamedError() : errorOfCode(code);
}

/** A partition that the answer does not name is unacknowledged (P3). */
function unnamedError(): PosthasteError {
  return new PosthasteError("broker_unavailable", "the answer does not name it", { retryable: true });
}

function refusedError(cause: Error): PosthasteError {
  return new PosthasteError("invalid_input", `no broker takes a record: ${describe(cause)}`, { cause });
}
