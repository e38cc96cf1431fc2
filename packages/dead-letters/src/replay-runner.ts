/**
 * Runs replays in one process of all, to which the consumer group gives the topic's partition.
 *
 * Owns: the membership in the group, and the run that is under way (`run-turn.ts`).
 * RR1  One replay runs at a time, in the order in which they were started. A paused one holds up no other.
 * RR2  A process writes its progress before it ends in order, and before a rebalance may take its partition. When a
 *      process is killed, another one goes on once the group has missed it.
 * RR3  Records that are over are removed: plans that nobody started, replays 14 days after their end, and purges when
 *      none of their dead letters can be in the topic any more.
 */
import type { RecordedProgress } from "@posthaste/contracts/replay-codec";
import { isDue } from "@posthaste/core/replay/replay";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type { WindowedConsumer } from "@posthaste/kafka/consumer/windowed-consumer";
import { carryOut, type ReplayRunOptions } from "./replay-run.ts";
import type { HeldPlan } from "./replay-store.ts";
import { RunProgress, TakenOver } from "./run-progress.ts";
import { RunTurn } from "./run-turn.ts";

const WINDOW = { maxRecords: 1000, maxBytes: 4 * 1024 * 1024 };
/** How long, in ms, the runner waits for a change at the most before it looks again. */
const LOOK_MS = 60_000;
/** The pause after a failure that is not the replay's, in ms. */
const AGAIN_MS = 1000;
/** How long a stop waits for brokers, in ms; dead letters whose progress is not written then are sent twice. */
const STOP_MS = 5000;
/**
 * How long a rebalance waits for the run to end in order, in ms; its last dead letters may take three seconds of that.
 */
const HAND_OVER_MS = 4000;
const DAY_MS = 24 * 60 * 60 * 1000;
const REPLAY_KEEP_MS = 14 * DAY_MS;
/**
 * How long purges are kept, in ms: twice as long as dead letters, since a segment may outlast the time of its dead
 * letters.
 */
const PURGE_KEEP_MS = 28 * DAY_MS;

export interface ReplayRunnerOptions extends ReplayRunOptions {
  /** Called when this process begins to lead, until `signal` is aborted. Never rejects. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
  /** Called when the runner cannot go on; the process should end. */
  readonly onFailure: (reason: Error) => void;
}

export class ReplayRunner {
  readonly #options: ReplayRunnerOptions;
  readonly #consumer: WindowedConsumer;
  readonly #forget: () => void;
  readonly #turn = new RunTurn();
  #working: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};
  #current: string | null = null;
  #isSettling = false;

  constructor(options: ReplayRunnerOptions) {
    const { connection, names, store, onFailure } = options;
    this.#options = options;
    this.#forget = store.onChange(() => this.#handleChange());
    this.#consumer = createWindowedConsumer<null>(connection, {
      ...{ groupId: names.replaysGroup, topics: [names.replays], window: WINDOW, onFailure },
      // The group only chooses the process that runs; the store reads the records.
      take: () => null,
      laneOf: () => null,
      run: (task) => task.finish(),
      onAssigned: () => this.#begin(),
      onDrain: () => this.#turn.hold(),
      onKept: () => {
        this.#turn.goOn();
        this.#wake();
      },
      onRevoked: () => this.#turn.end(),
      timing: { rebalanceDrainMs: HAND_OVER_MS },
    });
  }

  /** Resolves when the group was joined. Call it when the store has caught up. */
  start(): Promise<void> {
    return this.#consumer.start();
  }

  /** RR2. */
  async stop(): Promise<void> {
    this.#forget();
    this.#turn.close();
    await withDeadline(this.#working, STOP_MS, "ending a replay").catch(() => undefined);
    await this.#consumer.stop();
  }

  #begin(): void {
    const owning = this.#turn.begin();
    void this.#options.lead(owning);
    this.#working = this.#working.then(() => this.#work(owning));
  }

  #handleChange(): void {
    this.#wake();
    if (this.#current !== null) void this.#turn.run((signal) => this.#settleStopped(signal));
  }

  /** Never rejects. */
  async #work(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    while (!signal.aborted) {
      try {
        const [next] = this.#turn.isOurs ? dueReplays(this.#options.store.plans()) : [];
        if (next === undefined) await this.#changed(LOOK_MS, signal);
        else await this.#turn.run((ending) => this.#run(next.id, ending));
      } catch (error) {
        if (signal.aborted) return;
        log.error({ event: "replay_runner_failed", err: error }, "replays go on in a moment");
        await this.#changed(AGAIN_MS, signal);
      }
    }
  }

  async #run(id: string, signal: AbortSignal): Promise<void> {
    this.#current = id;
    try {
      await carryOut(this.#options, id, signal);
    } finally {
      this.#current = null;
    }
  }

  /** Ends replays that were cancelled while they waited for another. Never rejects. */
  async #settleStopped(signal: AbortSignal): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    try {
      for (const { id, plan } of dueReplays(this.#options.store.plans())) {
        if (id === this.#current || plan.want !== "cancelled") continue;
        const progress = await RunProgress.claim(this.#options, id, signal);
        await progress.write("cancelled");
      }
    } catch (error) {
      if (!(error instanceof TakenOver)) this.#options.log.warn({ event: "replay_not_settled", err: error });
    } finally {
      this.#isSettling = false;
    }
  }

  async #changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, timeoutMs);
    this.#wake = wake;
    signal.addEventListener("abort", wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
}

/**
 * RR3: removes the plans that are over, and the progress of replays whose plan is gone; nothing once `signal` is
 * aborted.
 * One that cannot be removed holds up no other; rejects then, when the rest is done.
 */
export async function removeOver({ store, clock, log }: RemovalOptions, signal: AbortSignal): Promise<void> {
  const nowMs = clock.nowMs();
  const failures: unknown[] = [];
  for (const held of [...store.plans()]) {
    if (signal.aborted) return;
    if (!isOver(held, nowMs)) continue;
    try {
      const isGone = await store.remove(held.id, (now) => isOver(now, nowMs));
      if (isGone) log.info({ event: "replay_removed", replayId: held.id });
    } catch (error) {
      failures.push(error);
    }
  }
  await store.removeLeftProgress((progress) => hasEndedBefore(progress, nowMs - REPLAY_KEEP_MS));
  if (failures.length > 0) throw failures[0];
}

interface RemovalOptions extends Pick<ReplayRunnerOptions, "clock" | "log"> {
  readonly store: Pick<ReplayRunnerOptions["store"], "plans" | "remove" | "removeLeftProgress">;
}

/** RR1: the replays that a runner has something to do for, in the order in which they were started. */
export function dueReplays(plans: Iterable<HeldPlan>): readonly HeldPlan[] {
  return [...plans]
    .filter(({ plan, progress }) => plan.purpose === "replay" && isDue(plan.want, progress))
    .sort((a, b) => startOf(a) - startOf(b));
}

function startOf({ plan, createdAtMs }: HeldPlan): number {
  return plan.startedAtMs ?? createdAtMs;
}

/** RR3. */
export function isOver({ plan, progress }: Pick<HeldPlan, "plan" | "progress">, nowMs: number): boolean {
  const { startedAtMs, expiresAtMs, purpose } = plan;
  if (startedAtMs === null) return nowMs >= expiresAtMs;
  if (purpose === "purge") return nowMs - startedAtMs >= PURGE_KEEP_MS;
  return hasEndedBefore(progress, nowMs - REPLAY_KEEP_MS);
}

function hasEndedBefore(progress: RecordedProgress | undefined, momentMs: number): boolean {
  return progress !== undefined && progress.endedAtMs !== null && progress.endedAtMs <= momentMs;
}
