/**
 * Moves a producer's batches: takes what is ready off the queue, sends it to the partitions' leaders, and does what the
 * answers say (rules P1 to P3).
 *
 * Owns: the channels to the brokers, the partitions in trouble, and one timer.
 * BS1  What can be sent now goes in one request a broker: a batch of every partition that the broker leads, that has
 *      records and that has no batch out.
 * BS2  A partition whose answer is an error, and a partition without a leader, is sent again by itself; the rest of the
 *      request stands.
 * BS3  A request that was not answered throws its own channel away and no other.
 * BS4  One question for the leaders is out at a time, however many partitions are in trouble and however long the
 *      answer takes: nothing grows while no broker answers.
 * BS5  A partition that is ready and was left where it is waits for an answer, for the end of a pause or for the
 *      leaders, and each of these looks at all that is ready again. So records that join it need not be looked at.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { describe, isRefusedRecord, isTimedOut } from "../connection/kafka-errors.ts";
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
  /** The metrics' label `class`. */
  readonly name: string;
  readonly clock: Clock;
  /** A request came to its end: something may be acknowledged. */
  readonly onExchanged: () => void;
}

/**
 * Of a whole request. A broker closes the connection at 100 MB (`socket.request.max.bytes`). Four full partitions cost
 * no more for each record than forty do, and what is copied on the way to the socket stays small.
 */
export const MAX_REQUEST_BYTES = 4_000_000;
/** A log line names so many partitions at the most. */
const SAID_PARTITIONS = 20;

/** What goes to one broker in one request. */
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
  /** Whether who leads is being asked, and whether another question is to follow for those that came meanwhile. */
  #asking: "no" | "once" | "once more" = "no";
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  /** Ends what the metrics page is told of this sender. */
  readonly #unwatch: (() => void) | undefined;

  constructor(options: BatchSenderOptions) {
    this.#options = options;
    this.#channels = new ProducerChannels(options.makeClient, options.clock);
    const { connection, name, queue } = options;
    connection.metrics?.producerReplaced.inc({ class: name }, 0);
    this.#unwatch = connection.metrics?.watchProducer(name, () => ({
      pendingBytes: queue.pendingBytes,
      unwrittenPartitions: this.#troubles.size,
    }));
  }

  /**
   * Sends in a microtask: what is given within the same task of the event loop goes together. To be called when a
   * partition has become ready (BS5).
   */
  sendSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => this.#sendReady());
  }

  /** Sends nothing more; what is out is not waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#channels.close();
    this.#unwatch?.();
  }

  /** BS1. */
  #sendReady(): void {
    this.#isDue = false;
    if (this.#isClosed) return;
    const { queue, leaders } = this.#options;
    const nowMs = this.#options.clock.monotonicMs();
    const requests = new Map<Channel, Request>();
    const unsure: PartitionQueue[] = [];
    const unled: Unwritten[] = [];
    for (const ready of queue.ready) {
      const step = this.#troubles.nextStep(ready, nowMs);
      const leader = leaders.leaderOf(ready.topic, ready.partition);
      if (step === "ask") unsure.push(ready);
      else if (step !== "send") this.#wakeAt(step.waitsUntilMs);
      else if (leader === undefined) unled.push({ queue: ready, error: noLeaderError() });
      else this.#gather(ready, leader, requests, nowMs);
    }
    for (const [channel, request] of requests) void this.#exchange(channel, request);
    this.#onUnwritten(unled);
    if (unsure.length > 0) this.#askLeaders(unsure, nowMs);
  }

  #askLeaders(queues: readonly PartitionQueue[], nowMs: number): void {
    this.#troubles.asked(queues, nowMs);
    if (this.#asking === "no") void this.#ask();
    else this.#asking = "once more";
    // For as long as the brokers have to answer.
    this.sendSoon();
  }

  /** BS4. */
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

  /** Takes the partition's batch into the request of its leader's channel, unless that has one out or is full. */
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
      const error = errorOf(codeOf(queue.topic, queue.partition));
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

  /** P2: the request's channel was thrown away. */
  #onFailed(queues: readonly PartitionQueue[], failure: unknown, isTimeout: boolean): void {
    const { connection, name } = this.#options;
    connection.metrics?.producerReplaced.inc({ class: name });
    for (const queue of queues) this.#options.queue.fail(queue);
    const troubles = queues.map((queue) => this.#troubled(queue, isTimeout));
    if (!PartitionTroubles.isLine(troubles)) return;
    const failures = Math.max(...troubles.map((trouble) => trouble.failures));
    const fields = { ...this.#fields("producer_replaced"), failures, reason: describe(failure) };
    connection.log.warn(fields, "a send failed: sending again with a new connection");
  }

  /** The partitions could not be written, and their brokers said so. */
  #onUnwritten(unwritten: readonly Unwritten[]): void {
    const troubles = unwritten.map(({ queue, error }) => this.#troubled(queue, isTimedOut(error)));
    if (!PartitionTroubles.isLine(troubles)) return;
    const fields = {
      ...this.#fields("partitions_unwritten"),
      failures: Math.max(...troubles.map((trouble) => trouble.failures)),
      partitions: unwritten.slice(0, SAID_PARTITIONS).map(({ queue }) => `${queue.topic}/${queue.partition}`),
      reason: describe(unwritten[0]?.error),
    };
    this.#options.connection.log.warn(fields, "partitions cannot be written: sending to them again");
  }

  /** The partition is tried again when its pause is over. */
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
    const { pendingBytes, oldestSinceMs } = queue;
    const oldestPendingMs = oldestSinceMs === null ? 0 : this.#options.clock.monotonicMs() - oldestSinceMs;
    return { event, producer: name, pendingBytes, oldestPendingMs };
  }
}

function noLeaderError(): PosthasteError {
  return new PosthasteError("broker_unavailable", "there is no leader", { retryable: true });
}

/** What a partition's answer says is wrong with it; null when all is well, which costs nothing to say. */
function errorOf(code: number | undefined): Error | null {
  if (code === 0) return null;
  return code === undefined ? unnamedError() : errorOfCode(code);
}

/** P3. */
function unnamedError(): PosthasteError {
  return new PosthasteError("broker_unavailable", "the answer does not name it", { retryable: true });
}

function refusedError(cause: Error): PosthasteError {
  return new PosthasteError("invalid_input", `no broker takes a record: ${describe(cause)}`, { cause });
}
