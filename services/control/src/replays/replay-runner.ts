/**
 * Runs replays in one process of all: the one that the group gives the topic's partition to.
 *
 * Owns: the membership in the group, and the run that is under way (`run-turn.ts`).
 * RR1  One replay runs at a time, the one that was started first; those that are paused stand in nobody's way.
 * RR2  A process that ends in order, or that a rebalance may take the partition from, puts its progress on record
 *      first; one that is killed is followed by another when the group has missed it.
 * RR3  What is over is removed: plans that nobody started, replays 14 days after their end, purges when nothing of what
 *      they took can be in the topic any more.
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
const TIDY_MS = 60_000;
/** After a failure that is not the replay's. */
const AGAIN_MS = 1000;
/** Brokers that do not answer hold up no end for longer; what is not on record then goes twice. */
const STOP_MS = 5000;
/** How long a rebalance waits for the run to end in order; its last letters may take three of it. */
const HAND_OVER_MS = 4000;
const DAY_MS = 24 * 60 * 60 * 1000;
const REPLAY_KEEP_MS = 14 * DAY_MS;
/** Twice as long as dead letters are kept: a segment may stand longer than its letters are due. */
const PURGE_KEEP_MS = 28 * DAY_MS;

export interface ReplayRunnerOptions extends ReplayRunOptions {
  /** What one process of all does beside, each minute. */
  readonly alsoTidy: () => Promise<void>;
  /** It cannot go on; the process should end. */
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
      // The group says who runs; what stands in the topic the store knows.
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
    this.#turn.end();
    await withDeadline(this.#working, STOP_MS, "ending a replay").catch(() => undefined);
    await this.#consumer.stop();
  }

  #begin(): void {
    const owning = this.#turn.begin();
    this.#working = this.#working.then(() => this.#work(owning));
  }

  #handleChange(): void {
    this.#wake();
    if (this.#current !== null) void this.#turn.run((signal) => this.#settleStopped(signal));
  }

  /** Never rejects. */
  async #work(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    let tidiedAtMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      try {
        const nowMs = this.#options.clock.monotonicMs();
        if (nowMs - tidiedAtMs >= TIDY_MS) {
          await this.#tidy();
          tidiedAtMs = nowMs;
        }
        const [next] = this.#turn.isOurs ? dueReplays(this.#options.store.plans()) : [];
        if (next === undefined) await this.#changed(TIDY_MS, signal);
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

  /** What was cancelled while it waited for another is not waited for. Never rejects. */
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

  /** RR3. */
  async #tidy(): Promise<void> {
    const { store, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    for (const held of [...store.plans()]) {
      if (!isOver(held, nowMs)) continue;
      const isGone = await store.remove(held.id, (now) => isOver(now, nowMs));
      if (isGone) log.info({ event: "replay_removed", replayId: held.id });
    }
    await this.#options.alsoTidy();
    await store.removeLeftProgress((progress) => hasEndedBefore(progress, nowMs - REPLAY_KEEP_MS));
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

/** RR1: those that want something done, in the order in which they were started. */
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
