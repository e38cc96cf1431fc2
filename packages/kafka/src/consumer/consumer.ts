/**
 * Windowed consumption of a group's topics (rules C1 to C10, D3, W1 and W3): kafkajs's consumer, and what it takes to drain
 * before partitions are given up, to begin exactly where the last owner stood, and to end rather than stand still.
 *
 * Owns: one kafkajs client, the runners of the owned partitions, the group's session, the committer, the topics' watch and one timer. Its
 * states: *new*, *running*, *stopping* (drains, then leaves), *ended*.
 * W-1  The epoch rises at every JOIN and at the end. What began under an older one, such as finding the places of gained
 *      partitions, does nothing any more (C4).
 * W-2  A partition is gained paused; it is fetched from when its place is found, and from nowhere else (C5).
 * W-3  Between the drain before a JOIN and the JOIN nothing is started (C4); the drain waits `rebalanceDrainMs` once.
 * W-4  It ends once: by `stop`, or by `onFailure`, which is called once and not after `stop` has resolved.
 * W-5  It reads the topics that had the names at its start. Where one was made anew it ends, within seconds: its next start reads
 *      the new one from the start, since the commits say of which topic they are.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload } from "kafkajs";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs, withDeadline } from "../connection/deadline.ts";
import type { KafkaClient } from "../connection/kafka-client.ts";
import { describe, isPassingFailure, toPosthasteError } from "../connection/kafka-errors.ts";
import { isSampledFailure } from "../connection/log-sampling.ts";
import { readTopicIds, type TopicIds } from "../connection/topic-id.ts";
import { TopicWatch } from "../connection/topic-watch.ts";
import { prefetchPatiently } from "../connection/when-reachable.ts";
import { setFetchWait } from "../kafkajs/kafkajs-internals.ts";
import { Committer } from "./committer.ts";
import { CLIENT_RETRY, consumerSettings, resolveTiming } from "./consumer-settings.ts";
import { GroupSession } from "./group-session.ts";
import { LagMeter } from "./lag.ts";
import { PartitionIntake } from "./partition-intake.ts";
import {
  compareAssignment,
  locatePartitions,
  outOfRange,
  type StartingPlace,
  type TopicPartition,
} from "./rebalance.ts";
import { StallWatch } from "./stall-watch.ts";
import type {
  ConsumerTiming,
  PartitionWindow,
  WindowedConsumer,
  WindowedConsumerOptions,
} from "./windowed-consumer.ts";

const END_OFFSETS_EVERY_TICKS = 5;
const LEAVE_DEADLINE_MS = 3000;
/** While no broker answers there is nobody to take leave of. */
const UNANSWERED_LEAVE_MS = 500;
const FLUSH_DEADLINE_MS = 1000;
/** A new leader may answer with an old end for a moment; what is outside the log on so many looks is. */
const OUT_OF_RANGE_LOOKS = 3;
const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Connects nothing before `start`. */
export function createWindowedConsumer<T, F = never>(
  connection: KafkaConnection,
  options: WindowedConsumerOptions<T, F>,
): WindowedConsumer {
  return new GroupConsumer(connection, options);
}

class GroupConsumer<T, F> implements WindowedConsumer {
  readonly #connection: KafkaConnection;
  readonly #options: WindowedConsumerOptions<T, F>;
  readonly #timing: ConsumerTiming;
  readonly #clock = SYSTEM_CLOCK;
  readonly #client: KafkaClient;
  readonly #consumer: Consumer;
  readonly #session: GroupSession;
  readonly #committer: Committer;
  readonly #stalls: StallWatch;
  readonly #lag: LagMeter;
  #runners: PartitionIntake<T, F>[] = [];
  #state: "new" | "running" | "stopping" | "ended" = "new";
  #epoch = 0;
  #joined = false;
  /** The drain before the next JOIN, for all that ask for it: kafkajs may join twice at once. */
  #drained: Promise<void> | null = null;
  /** Drains that wait until nothing runs. */
  readonly #drains = new Set<AbortController>();
  /** Known before the group is joined. */
  #topicIds: TopicIds = new Map();
  #watch: TopicWatch | undefined;
  #tick: NodeJS.Timeout | undefined;
  #ticks = 0;
  readonly #ending = new AbortController();
  #failure: Error | null = null;
  #stopped: Promise<void> | null = null;

  constructor(connection: KafkaConnection, options: WindowedConsumerOptions<T, F>) {
    this.#connection = connection;
    this.#options = withPatience(connection, options, this.#ending.signal);
    this.#timing = resolveTiming(options);
    const { groupId } = options;
    this.#stalls = new StallWatch(groupId, this.#timing.stallLimitMs);
    this.#session = new GroupSession(groupId, {
      beforeJoin: () => this.#drainBeforeJoin(),
      onHeartbeat: () => {
        if (this.#runners.length === 0) this.#stalls.heardGroup();
      },
      onOutOfRange: (topic, partition) => void this.#onOutOfRange(topic, partition),
    });
    this.#committer = new Committer({
      session: this.#session,
      owned: () => this.#runners,
      intervalMs: this.#timing.commitIntervalMs,
      clock: this.#clock,
      onCommitted: () => this.#stalls.heardGroup(),
      onFailed: (reason, failures) => this.#onCommitFailed(reason, failures),
    });
    this.#lag = new LagMeter({
      connection,
      owned: () => this.#runners,
      clock: this.#clock,
      countWaiting: options.delayMsOf !== undefined,
    });
    options.backpressure?.onReleased(() => this.#release());
    this.#client = connection.createClient({ retry: CLIENT_RETRY });
    setFetchWait(this.#client.kafka, () => this.#fetchWaitMs());
    this.#consumer = this.#createConsumer();
    connection.metrics?.rebalances.inc({ group: groupId }, 0);
    connection.metrics?.commitFailures.inc({ group: groupId }, 0);
  }

  get isReady(): boolean {
    return this.#state === "running" && this.#joined && this.#runners.every(({ isLocating }) => !isLocating);
  }

  owned(): readonly PartitionWindow[] {
    return this.#runners.map(({ window }) => window);
  }

  async start(): Promise<void> {
    if (this.#state !== "new") throw new PosthasteError("closed", "the consumer was started before");
    this.#state = "running";
    this.#topicIds = this.#options.topicIds ?? (await this.#readTopicIds());
    await this.#connect();
    this.#watch = new TopicWatch(this.#connection, {
      topicIds: this.#topicIds,
      onRemade: (topic) => this.#fail(remade(topic)),
    });
    this.#committer.start();
    const tickMs = Math.min(1000, this.#timing.stallLimitMs / 4);
    this.#tick = setInterval(() => this.#onTick(tickMs), tickMs);
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 16,
      eachBatch: (payload) => this.#onBatch(payload),
    });
    if (this.#failure !== null) throw this.#failure;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  #createConsumer(): Consumer {
    const { groupId } = this.#options;
    const settings = consumerSettings(this.#options, this.#timing);
    const consumer = this.#client.kafka.consumer({ ...settings, partitionAssigners: [this.#session.assigner] });
    consumer.on(consumer.events.GROUP_JOIN, (event) => this.#onJoined(event));
    consumer.on(consumer.events.START_BATCH_PROCESS, ({ payload }) => {
      const { topic, partition, batchSize, firstOffset, lastOffset } = payload;
      // What holds no record never comes to the batch handler, and kafkajs goes on behind it.
      if (batchSize === 0) this.#runnerOf(topic, partition)?.skip(Number(firstOffset), Number(lastOffset));
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      this.#fail(toPosthasteError(payload.error, `the consumer of group ${groupId} crashed`));
    });
    return consumer;
  }

  /** That the topic is another explains it better, and asks for nothing but a start (W-5). */
  async #onOutOfRange(topic: string, partition: number): Promise<void> {
    await this.#watch?.look();
    const what = `the position in ${topic} partition ${partition} is not in the log`;
    this.#fail(outOfRange(what, this.#options.outOfRangeAdvice));
  }

  #onCommitFailed(reason: unknown, failures: number): void {
    const { metrics, log } = this.#connection;
    const { groupId } = this.#options;
    metrics?.commitFailures.inc({ group: groupId });
    if (!isSampledFailure(failures)) return;
    log.warn({ event: "commit_refused", group: groupId, failures, reason: describe(reason) }, "a commit is due again");
  }

  async #readTopicIds(): Promise<TopicIds> {
    try {
      return await readTopicIds(this.#connection, this.#options.topics, { signal: this.#ending.signal });
    } catch (error) {
      if (this.#isRunning()) throw error;
      throw stoppedError();
    }
  }

  /** Until the brokers answer: a service may be started before them. */
  async #connect(): Promise<void> {
    for (let failures = 1; this.#isRunning(); failures += 1) {
      try {
        await this.#consumer.connect();
        await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true });
        if (this.#isRunning()) return;
      } catch (error) {
        if (!isPassingFailure(error)) throw toPosthasteError(error, `group ${this.#options.groupId}`);
        await pause(retryPauseMs(failures));
      }
    }
    throw stoppedError();
  }

  /** Asked anew after each wait: `stop` may have been called meanwhile. */
  #isRunning(): boolean {
    return this.#state === "running";
  }

  async #onBatch({ batch, resolveOffset }: EachBatchPayload): Promise<void> {
    const runner = this.#runnerOf(batch.topic, batch.partition);
    if (runner === undefined) return;
    this.#stalls.heardPartition(runner);
    const accepted = runner.accept({
      messages: batch.messages,
      fetchedFrom: fetchedFrom(batch),
      lastOffset: Number(batch.lastOffset()),
      endOffset: Number(batch.highWatermark),
    });
    if (accepted) resolveOffset(batch.lastOffset());
  }

  #runnerOf(topic: string, partition: number): PartitionIntake<T, F> | undefined {
    return this.#runners.find((each) => each.partition === partition && each.topic === topic);
  }

  /** C4. Also while stopping: what runs may take as long as `stop` allows, but no JOIN waits for it. */
  #drainBeforeJoin(): Promise<void> {
    this.#drained ??= this.#runners.length === 0 ? null : this.#drainAndFlush(this.#timing.rebalanceDrainMs);
    return this.#drained ?? Promise.resolve();
  }

  async #drainAndFlush(timeoutMs: number): Promise<void> {
    await this.#drain(timeoutMs);
    await this.#flush();
  }

  #flush(): Promise<void> {
    return withDeadline(this.#committer.flush(), FLUSH_DEADLINE_MS, "the last commit").catch(() => undefined);
  }

  /** Freezes every window and waits for what runs. */
  async #drain(timeoutMs: number): Promise<void> {
    for (const runner of this.#runners) runner.freeze();
    if (!this.#hasRunning()) return;
    const drained = new AbortController();
    this.#drains.add(drained);
    await pause(timeoutMs, drained.signal);
    this.#drains.delete(drained);
  }

  /** A fetch that waits long costs nothing, unless somebody waits for its end: whoever resumes a partition that it leaves out, or stops. */
  #fetchWaitMs(): number {
    const { maxWaitMs, idleMaxWaitMs } = this.#timing;
    if (!this.#isRunning() || this.#runners.some(({ isPaused }) => isPaused)) return maxWaitMs;
    return Math.max(maxWaitMs, idleMaxWaitMs);
  }

  #onIdle(): void {
    if (this.#hasRunning()) return;
    for (const drained of this.#drains) drained.abort();
  }

  #hasRunning(): boolean {
    return this.#runners.some(({ running }) => running > 0);
  }

  #onJoined({ payload }: ConsumerGroupJoinEvent): void {
    if (this.#state === "ended") return;
    this.#epoch += 1;
    this.#joined = true;
    this.#drained = null;
    this.#committer.joined();
    // Not again: a group that joins for ever and takes no commit has come to a standstill too (C7).
    if (this.#epoch === 1) this.#stalls.heardGroup();
    this.#connection.metrics?.rebalances.inc({ group: this.#options.groupId });
    const found = this.#runners.filter(({ isLocating }) => !isLocating);
    const sought = this.#runners.filter(({ isLocating }) => isLocating);
    const { kept, lost, gained } = compareAssignment(found, payload.memberAssignment, this.#session.isContinuous);
    const runners = this.#state === "stopping" ? [] : gained.map((place) => this.#createRunner(place));
    this.#connection.log.info({
      event: "group_joined",
      group: this.#options.groupId,
      kept: kept.length,
      lost: lost.length,
      gained: gained.length,
    });
    this.#runners = [...kept, ...runners];
    this.#giveUp(lost);
    // One that is sought through join after join grows old, and one that is ours no more does not.
    for (const place of sought) if (!gained.some((each) => isSame(each, place))) this.#stalls.forget(place);
    for (const place of gained) this.#stalls.expectPartition(place);
    for (const { topic, partition } of gained) this.#consumer.pause([{ topic, partitions: [partition] }]);
    for (const runner of kept) {
      if (this.#state === "stopping") runner.freeze();
      else runner.keep();
    }
    if (runners.length > 0) void this.#locate(runners, this.#epoch);
  }

  /** Another partition each time has the first of the room. */
  #release(): void {
    const first = this.#runners.shift();
    if (first !== undefined) this.#runners.push(first);
    for (const runner of this.#runners) runner.release();
  }

  #createRunner(place: TopicPartition): PartitionIntake<T, F> {
    const { topic, partition } = place;
    const here = [{ topic, partitions: [partition] }];
    const whileActive = (act: () => void) => () => {
      if (this.#state !== "ended") act();
    };
    return new PartitionIntake(
      { ...place, topicId: this.#topicIds.get(topic) ?? undefined },
      this.#options,
      {
        pause: whileActive(() => this.#consumer.pause(here)),
        resume: whileActive(() => this.#consumer.resume(here)),
        seek: (offset) => whileActive(() => this.#consumer.seek({ topic, partition, offset: String(offset) }))(),
      },
      {
        clock: this.#clock,
        onFailure: (reason) => this.#fail(reason),
        onIdle: () => this.#onIdle(),
      },
    );
  }

  /** Finds the places of gained partitions, for as long as it takes and the epoch lasts; each begins when its own is found. */
  async #locate(gained: readonly PartitionIntake<T, F>[], epoch: number): Promise<void> {
    let left = gained;
    for (let failures = 1; epoch === this.#epoch && left.length > 0; failures += 1) {
      try {
        const terms = { topicIds: this.#topicIds, outOfRangeAdvice: this.#options.outOfRangeAdvice };
        const places = await locatePartitions(this.#connection, this.#session, left, terms);
        if (epoch !== this.#epoch) return;
        left = this.#begin(left, places);
      } catch (error) {
        if (epoch !== this.#epoch) return;
        const looksAgain = isPosthasteError(error, "offset_out_of_range") && failures < OUT_OF_RANGE_LOOKS;
        if (isPosthasteError(error) && !error.retryable && !looksAgain) return this.#fail(error);
        this.#connection.log.debug({ event: "places_unknown", group: this.#options.groupId, failures, error });
      }
      if (left.length > 0) await pause(retryPauseMs(failures));
    }
  }

  /** Begins the partitions whose places were found; answers the others, which have no leader. */
  #begin(gained: readonly PartitionIntake<T, F>[], places: readonly StartingPlace[]): readonly PartitionIntake<T, F>[] {
    const left = gained.filter((runner) => {
      const place = places.find((each) => each.topic === runner.topic && each.partition === runner.partition);
      // To have no leader is an answer, and no standstill of ours.
      this.#stalls.heardPartition(runner);
      if (place === undefined) return true;
      runner.begin(place.offset, place.metadata);
      return false;
    });
    const begun = gained.filter((runner) => !left.includes(runner));
    if (begun.length > 0) this.#options.onAssigned?.(begun.map(({ window }) => window));
    return left;
  }

  #giveUp(lost: readonly PartitionIntake<T, F>[]): void {
    if (lost.length === 0) return;
    for (const runner of lost) {
      runner.revoke();
      this.#stalls.forget(runner);
    }
    this.#lag.forget(lost);
    this.#options.onRevoked?.(lost.map(({ window }) => window));
  }

  #onTick(tickMs: number): void {
    this.#ticks += 1;
    for (const runner of this.#runners) {
      if (runner.hasNothingToFetch && !runner.isLocating) this.#stalls.heardPartition(runner);
    }
    this.#lag.publish();
    if (this.#ticks % END_OFFSETS_EVERY_TICKS === 0) void this.#lag.readEnds();
    const reason = this.#stalls.tick(tickMs);
    if (reason !== null && this.#state === "running") this.#fail(reason);
  }

  async #stop(): Promise<void> {
    if (this.#state === "ended") return;
    const wasRunning = this.#state === "running";
    this.#state = "stopping";
    if (wasRunning) {
      await this.#drainAndFlush(this.#timing.stopDrainMs);
    }
    this.#end();
    const leaveMs = this.#connection.answeringBrokers().length > 0 ? LEAVE_DEADLINE_MS : UNANSWERED_LEAVE_MS;
    await withDeadline(this.#consumer.disconnect(), leaveMs, "leaving the group").catch(() => undefined);
    this.#client.destroy();
  }

  #fail(reason: Error): void {
    if (this.#state === "ended") return;
    this.#failure = reason;
    this.#end();
    // kafkajs's loops end by themselves once they are told and their sockets are gone.
    this.#consumer.disconnect().catch(() => undefined);
    this.#client.destroy();
    this.#connection.log.error({ event: "consumer_failed", group: this.#options.groupId, error: reason });
    this.#options.onFailure(reason);
  }

  #end(): void {
    this.#state = "ended";
    this.#epoch += 1;
    this.#joined = false;
    this.#committer.stop();
    this.#session.end();
    this.#watch?.close();
    clearInterval(this.#tick);
    const lost = this.#runners;
    this.#runners = [];
    this.#giveUp(lost);
    this.#ending.abort();
  }
}

function isSame(one: TopicPartition, other: TopicPartition): boolean {
  return one.topic === other.topic && one.partition === other.partition;
}

function stoppedError(): PosthasteError {
  return new PosthasteError("closed", "the consumer was stopped");
}

/** To begin again is all that it takes (W-5). */
function remade(topic: string): PosthasteError {
  const what = `${topic} was made anew while it was read: the process is to be started again`;
  return new PosthasteError("topic_mismatch", what);
}

/** A registry that does not answer holds up the partitions that need it, and ends nothing. */
function withPatience<T, F>(
  connection: KafkaConnection,
  options: WindowedConsumerOptions<T, F>,
  signal: AbortSignal,
): WindowedConsumerOptions<T, F> {
  const { prefetch, groupId } = options;
  if (prefetch === undefined) return options;
  const fields = { event: "consumer_waits_for_schema", group: groupId };
  const message = "the schema of a record cannot be fetched: trying on";
  return { ...options, prefetch: prefetchPatiently(prefetch, { log: connection.log, fields, message, signal }) };
}

/** kafkajs's types leave out what its batches know: the offset that was asked for. */
function fetchedFrom(batch: object): number {
  return Number((batch as { readonly fetchedOffset?: unknown }).fetchedOffset);
}
