/**
 * Consumes the topics of a group by windows (C1 to C12, D3, W1, W3). Around kafkajs's consumer it adds: a drain before
 * partitions are given up, a start exactly where the last owner stopped, and an end with a reason instead of a
 * standstill.
 *
 * Owns: the parts that do this, each in a file of its own. The consumer is
 * - *new* until `start`;
 * - *running* from then on: it joins, fetches and commits;
 * - *stopping* from `stop` on: it drains, commits, and then leaves the group;
 * - *ended* when `stop` has drained, or at once by a failure.
 * - Between the drain before a JOIN and the JOIN the consumer starts nothing (C4). The drain takes at most
 *   `rebalanceDrainMs` and `lastCommitMs`.
 * CN4  The consumer ends once, by `stop` or by a failure. It calls `onFailure` at most once, and not after `stop`
 *      resolved.
 * CN5  The consumer reads the topics that had the names at its start. When one of them is recreated, the consumer ends
 *      within seconds. Its next start reads the new topic from the start, because commits name their topic's id.
 * owned-partitions.ts has CN1 and CN2.
 */
import { PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import { describe } from "../connection/kafka-errors.ts";
import { isSampledFailure } from "../connection/log-sampling.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { Committer } from "./committer.ts";
import { resolveTiming } from "./consumer-settings.ts";
import { ConsumerTicks } from "./consumer-ticks.ts";
import { Drain } from "./drain.ts";
import { FetchLoop } from "./fetch-loop.ts";
import type { FetchedBatch } from "./fetched-backlog.ts";
import { FillTicks } from "./fill-ticks.ts";
import { type GroupHooks, GroupSession } from "./group-session.ts";
import { LagMeter } from "./lag.ts";
import { OwnedPartitions } from "./owned-partitions.ts";
import { type Assigned, outOfRange, type TopicPartition } from "./rebalance.ts";
import { SchemaWaits, withSchemaWait } from "./schema-waits.ts";
import { StallWatch } from "./stall-watch.ts";
import { WatchedTopics } from "./watched-topics.ts";
import type {
  ConsumerTiming,
  PartitionWindow,
  WindowedConsumer,
  WindowedConsumerOptions,
} from "./windowed-consumer.ts";

const LEAVE_DEADLINE_MS = 3000;
/** In ms. While no broker answers, no broker can take note that this member leaves. */
const UNANSWERED_LEAVE_MS = 500;

/** Makes a consumer, which connects at `start`. */
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
  readonly #clock: Clock;
  readonly #topics: WatchedTopics;
  readonly #stalls: StallWatch;
  readonly #session: GroupSession;
  readonly #committer: Committer;
  readonly #drain: Drain;
  readonly #lag: LagMeter;
  readonly #ticks: ConsumerTicks;
  readonly #fillTicks: FillTicks;
  readonly #loop: FetchLoop;
  readonly #owned: OwnedPartitions<T, F>;
  #state: "new" | "running" | "stopping" | "ended" = "new";
  #joins = 0;
  /** When this member began to prepare for the JOIN that is under way, on the monotonic clock. */
  #joiningSinceMs: number | undefined;
  readonly #ending = new AbortController();
  #failure: Error | null = null;
  #stopped: Promise<void> | null = null;

  constructor(connection: KafkaConnection, options: WindowedConsumerOptions<T, F>) {
    this.#connection = connection;
    this.#timing = resolveTiming(options);
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    const schemaWaits = new SchemaWaits(() => this.#clock.monotonicMs());
    this.#options = withSchemaWait(connection, options, { schemaWaits, signal: this.#ending.signal });
    this.#topics = new WatchedTopics(connection, options);
    this.#stalls = new StallWatch(options.groupId, this.#timing.stallLimitMs);
    this.#session = this.#createSession();
    this.#committer = this.#createCommitter();
    this.#drain = new Drain({
      owned: () => this.#owned.all,
      endOther: options.onDrain,
      flush: () => this.#committer.flush(),
      rebalanceDrainMs: this.#timing.rebalanceDrainMs,
      lastCommitMs: this.#timing.lastCommitMs,
    });
    this.#lag = new LagMeter({
      connection,
      owned: () => this.#owned.all,
      clock: this.#clock,
      groupId: options.groupId,
      topics: options.topics,
      schemaWaitMs: (topic) => schemaWaits.oldestMs(topic),
      delayMsOf: options.delayMsOf,
    });
    this.#ticks = new ConsumerTicks({
      owned: () => this.#owned.all,
      lag: this.#lag,
      stalls: this.#stalls,
      stallLimitMs: this.#timing.stallLimitMs,
      onStalled: (reason) => {
        if (this.#isRunning()) this.#fail(reason);
      },
    });
    this.#fillTicks = new FillTicks({ workingSet: options.workingSet, owned: () => this.#owned.all });
    this.#loop = this.#createLoop();
    this.#owned = this.#createOwned();
    options.backpressure?.onReleased(() => this.#owned.release());
    connection.metrics?.rebalances.inc({ group: options.groupId }, 0);
    connection.metrics?.commitFailures.inc({ group: options.groupId }, 0);
    connection.metrics?.commitMetadataTruncated.inc({ group: options.groupId }, 0);
  }

  get isReady(): boolean {
    const isJoined = this.#state === "running" && this.#joins > 0;
    return isJoined && this.#owned.all.every(({ isLocating }) => !isLocating);
  }

  owned(): readonly PartitionWindow[] {
    return this.#owned.all.map(({ window }) => window);
  }

  async start(): Promise<void> {
    if (this.#state !== "new") throw new PosthasteError("closed", "the consumer was started before");
    this.#state = "running";
    await this.#readTopics();
    await this.#loop.connect(() => this.#isRunning());
    if (!this.#isRunning()) throw stoppedError();
    this.#topics.watch((reason) => this.#fail(reason));
    this.#committer.start();
    this.#ticks.start();
    this.#fillTicks.start();
    await this.#loop.run();
    if (this.#failure !== null) throw this.#failure;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  #createSession(): GroupSession {
    const hooks: GroupHooks = {
      beforeJoin: () => {
        this.#joiningSinceMs ??= this.#clock.monotonicMs();
        return this.#drain.beforeJoin();
      },
      onHeartbeat: () => {
        if (this.#owned.all.length === 0) this.#stalls.sawGroup();
      },
      onOutOfRange: (topic, partition) => void this.#onOutOfRange(topic, partition),
    };
    return new GroupSession(this.#options.groupId, hooks, this.#timing.commitDeadlineMs);
  }

  #createCommitter(): Committer {
    return new Committer({
      session: this.#session,
      owned: () => this.#owned.all,
      intervalMs: this.#timing.commitIntervalMs,
      clock: this.#clock,
      onCommitted: () => this.#stalls.sawGroup(),
      onFailed: (reason, failures) => this.#onCommitFailed(reason, failures),
    });
  }

  #createLoop(): FetchLoop {
    return new FetchLoop({
      connection: this.#connection,
      consumer: this.#options,
      timing: this.#timing,
      assigner: this.#session.assigner,
      fetchWaitMs: () => this.#fetchWaitMs(),
      onJoined: (assigned) => this.#onJoined(assigned),
      onFetched: (place, batch) => this.#onFetched(place, batch),
      onEmptyFetch: (place, firstOffset, lastOffset) => this.#owned.find(place)?.skip(firstOffset, lastOffset),
      onCrash: (reason) => this.#fail(reason),
    });
  }

  #createOwned(): OwnedPartitions<T, F> {
    return new OwnedPartitions({
      connection: this.#connection,
      consumer: this.#options,
      session: this.#session,
      topicIds: () => this.#topics.ids,
      fetchOf: (place) => this.#loop.fetchOf(place),
      stalls: this.#stalls,
      clock: this.#clock,
      onIdle: () => this.#drain.onIdle(),
      onChanged: () => this.#committer.changed(),
      onGivenUp: (lost) => this.#lag.forget(lost),
      onFailure: (reason) => this.#fail(reason),
    });
  }

  async #readTopics(): Promise<void> {
    try {
      await this.#topics.read(this.#ending.signal);
    } catch (error) {
      throw this.#isRunning() ? error : stoppedError();
    }
  }

  /**
   * First asks whether the topic was recreated: that would explain the offset, and needs no advice but a new start
   * (CN5).
   */
  async #onOutOfRange(topic: string, partition: number): Promise<void> {
    await this.#topics.look();
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

  /** Whether the state is *running*. `start` asks after each wait, since `stop` may have been called meanwhile. */
  #isRunning(): boolean {
    return this.#state === "running";
  }

  #onFetched(place: TopicPartition, batch: FetchedBatch): boolean {
    const intake = this.#owned.find(place);
    if (intake === undefined) return false;
    this.#stalls.sawPartition(intake);
    this.#fillTicks.wake();
    return intake.accept(batch);
  }

  /**
   * How long a fetch that begins now waits at the broker for records, in ms. A long wait costs nothing while every
   * partition is in the fetch. A partition that is paused is not: once resumed, it must wait for the fetch to end, so
   * the wait is short then. `stop` does not wait for the last fetch but cuts it (fetch-loop.ts).
   */
  #fetchWaitMs(): number {
    const { maxWaitMs, idleMaxWaitMs } = this.#timing;
    if (!this.#isRunning() || this.#owned.all.some(({ isPaused }) => isPaused)) return maxWaitMs;
    return Math.max(maxWaitMs, idleMaxWaitMs);
  }

  #onJoined(assigned: Assigned): void {
    if (this.#state === "ended") return;
    this.#joins += 1;
    this.#drain.joined();
    this.#committer.joined();
    this.#fillTicks.wake();
    // Only the first JOIN counts: a group that joins again and again without a commit has come to a standstill too
    // (C7).
    if (this.#joins === 1) this.#stalls.sawGroup();
    this.#countRebalance();
    this.#owned.join(assigned, { isStopping: this.#state === "stopping" });
  }

  #countRebalance(): void {
    const group = { group: this.#options.groupId };
    const { metrics } = this.#connection;
    metrics?.rebalances.inc(group);
    const nowMs = this.#clock.monotonicMs();
    metrics?.rebalanceSeconds.observe(group, (nowMs - (this.#joiningSinceMs ?? nowMs)) / 1000);
    this.#joiningSinceMs = undefined;
  }

  async #stop(): Promise<void> {
    if (this.#state === "ended") return;
    const wasRunning = this.#state === "running";
    this.#state = "stopping";
    if (wasRunning) await this.#drain.drain(this.#timing.stopDrainMs);
    this.#end();
    const leaveMs = this.#connection.answeringBrokers().length > 0 ? LEAVE_DEADLINE_MS : UNANSWERED_LEAVE_MS;
    await withDeadline(this.#loop.disconnect(), leaveMs, "leaving the group").catch(() => undefined);
    this.#loop.destroy();
  }

  #fail(reason: Error): void {
    if (this.#state === "ended") return;
    this.#failure = reason;
    this.#end();
    this.#loop.disconnect().catch(() => undefined);
    this.#loop.destroy();
    const { groupId, onFailure } = this.#options;
    this.#connection.log.error({ event: "consumer_failed", group: groupId, err: reason });
    onFailure(reason);
  }

  #end(): void {
    this.#state = "ended";
    this.#committer.stop();
    this.#session.end();
    this.#topics.close();
    this.#ticks.stop();
    this.#fillTicks.stop();
    this.#owned.close();
    this.#ending.abort();
  }
}

function stoppedError(): PosthasteError {
  return new PosthasteError("closed", "the consumer was stopped");
}
