/**
 * Carries out one replay, from its progress to its end, or to where it is to stop.
 *
 * Owns: the producer of the deliveries, and the progress of this runner (`run-progress.ts`).
 * Z1  A replayed delivery keeps its key, message id and body, and has an origin without a topic generation (O3 of
 *     `origin.ts`). Delivery takes it for no repeat, and the receiver knows it by its idempotency key. It has a new
 *     retry window. Its headers name the replay, the dead letter and the attempts before (`replayedProgress`).
 * Z2  A run sends the dead letters that its plan names (RP1 of core's `replay.ts`): a delivery that dies again is not
 *     sent again by the same replay.
 * Z3  It goes through one partition after the other, each from its start, so that the order of a key stays.
 * Z4  Its deliveries go through a producer of their own, so that no other write of control waits behind them.
 * Z5  The progress is written each second, and before more than a batch is sent without it. While it cannot be written,
 *     nothing is sent.
 * Z6  Which dead letters to leave out is judged again, one by one, shortly before each would be sent.
 * Z7  A run stops when it is asked to, even while it finds nothing to send or waits for a broker or the registry. From
 *     a topic that was made anew it sends nothing: the dead letters of the plan are gone with the old topic.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Codec } from "@posthaste/contracts/codec";
import { encodeProgress } from "@posthaste/contracts/headers";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { replayedDelivery, replayedProgress } from "@posthaste/core/delivery/replay";
import { PosthasteError } from "@posthaste/core/errors";
import { TokenBucket } from "@posthaste/core/isolation/token-bucket";
import type { RunState, SkipCause } from "@posthaste/core/replay/replay";
import type { PlannedRange, ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createProducer, type OutgoingRecord, type Producer } from "@posthaste/kafka/producer/producer";
import type { Traces } from "@posthaste/runtime/traces";
import { tracedAgain } from "./again-span.ts";
import type { DeadLetterJudge } from "./dead-letter-judge.ts";
import { type DeadLetterBatch, type FoundDeadLetter, readDeadLetters } from "./dead-letter-reader.ts";
import { type DeadLetterTest, meantBy } from "./plan-dead-letters.ts";
import { noSuchPlan, type ReplayStore } from "./replay-store.ts";
import { RunProgress, type RunProgressOptions, type SkippedDeadLetter, TakenOver } from "./run-progress.ts";

/** The time between two looks at whether more may be sent, or is still wanted, in ms. */
const LOOK_MS = 25;
/** Z6: how many seconds before it is sent a dead letter may be judged, at the plan's rate. */
const JUDGED_AHEAD_S = 0.5;
const UNPACED = 10_000;
/** After a pause a replay catches up with at most so many seconds of delayed sends. */
const CATCH_UP_S = 1;
/**
 * How long dead letters on their way are waited for when the process ends, in ms; shorter than the process waits for
 * its run.
 */
const LAST_SEND_MS = 3000;
/** How many records are sent at once: a twentieth of a second's at 2,000 a second. */
const STEP = 100;

export interface ReplayRunOptions extends RunProgressOptions {
  readonly connection: KafkaConnection;
  readonly names: TopicNames;
  readonly store: ReplayStore;
  readonly judge: DeadLetterJudge;
  readonly deadLetters: Codec<DeadLetter>;
  readonly deliveries: Codec<Delivery>;
  /** Called when the brokers took so many deliveries of a replay. */
  readonly onReplayed?: (deliveries: number) => void;
  /** Whether each URL of this destination is retried on its own. */
  readonly settlesEach: (destinationId: string) => boolean;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
}

/**
 * Resolves when the replay has ended, has stopped as it was asked to, was taken over by another runner, or was ended in
 * order by `signal`.
 */
export async function carryOut(options: ReplayRunOptions, id: string, signal: AbortSignal): Promise<void> {
  try {
    const progress = await RunProgress.claim(options, id, signal);
    const run = new ReplayRun(options, { id, signal, progress });
    const state = await run.run();
    await progress.write(state, run.plan.matched);
  } catch (error) {
    if (!(error instanceof TakenOver)) throw error;
    options.log.warn({ event: "replay_taken_over", replayId: id });
  }
}

interface RunParts {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly progress: RunProgress;
}

interface Sending {
  readonly producer: Producer;
  readonly isMeant: DeadLetterTest;
  readonly pace: TokenBucket | null;
}

/** Dead letters of the plan that were judged, from `at` on, and how many of them may be sent now. */
interface Step {
  readonly meant: readonly FoundDeadLetter[];
  readonly causes: readonly (SkipCause | null)[];
  readonly at: number;
  readonly allowed: number;
}

class ReplayRun {
  readonly #options: ReplayRunOptions;
  readonly #parts: RunParts;
  /** Ends the reading, whatever it waits for, when nothing more is to be sent (Z7). */
  readonly #stopping = new AbortController();

  constructor(options: ReplayRunOptions, parts: RunParts) {
    this.#options = options;
    this.#parts = parts;
    parts.signal.addEventListener("abort", () => this.#stopping.abort(), { signal: this.#stopping.signal });
  }

  /** The plan as it is now: callers may start, pause or cancel it at any time. */
  get plan(): ReplayPlan {
    const { id } = this.#parts;
    const held = this.#options.store.get(id);
    if (held === undefined) throw noSuchPlan(id);
    return held.plan;
  }

  /** Runs the replay. Returns the state in which it stopped. */
  async run(): Promise<RunState> {
    const { connection, names, clock, log } = this.#options;
    const stopped = this.#stopState();
    if (stopped !== null) return stopped;
    const producer = await createProducer(connection, { name: "replay", topics: [names.deliveries] });
    const forget = this.#options.store.onChange(() => {
      if (this.#options.store.get(this.#parts.id)?.plan.want !== "running") this.#stopping.abort();
    });
    try {
      const { plan } = this;
      const pace =
        plan.ratePerSecond === null ? null : new TokenBucket(plan.ratePerSecond, clock.monotonicMs(), CATCH_UP_S);
      const sending = { producer, pace, isMeant: meantBy(plan) };
      for (const range of plan.ranges) {
        const state = await this.#runRange(range, sending);
        if (state !== null) return state;
      }
      return "done";
    } catch (error) {
      if (error instanceof TakenOver) throw error;
      const stopping = this.#stopState();
      if (stopping !== null) return stopping;
      log.error({ event: "replay_failed", replayId: this.#parts.id, err: error });
      return "failed";
    } finally {
      forget();
      this.#stopping.abort();
      await producer.close();
    }
  }

  /** Z3. Null when the whole range was passed. */
  async #runRange({ partition, start, end }: PlannedRange, sending: Sending): Promise<RunState | null> {
    const { connection, names, deadLetters: codec } = this.#options;
    const { progress } = this.#parts;
    const { topicId } = this.plan;
    const reading = { connection, topic: names.deadLetters, topicId, codec };
    const range = { partition, start: progress.nextOf({ partition, offset: start }), end };
    for await (const batch of readDeadLetters(reading, range, this.#stopping.signal)) {
      const state = await this.#runBatch(partition, batch, sending);
      if (state !== null) return state;
    }
    progress.pass(partition, { next: end, sent: 0, leftOut: [] });
    return null;
  }

  async #runBatch(partition: number, batch: DeadLetterBatch, sending: Sending): Promise<RunState | null> {
    const { progress } = this.#parts;
    const stopped = this.#stopState();
    if (stopped !== null) return stopped;
    const meant = batch.deadLetters.filter(({ facts }) => sending.isMeant(facts));
    const atOnce = Math.max(
      1,
      Math.min(meant.length, Math.floor((this.plan.ratePerSecond ?? UNPACED) * JUDGED_AHEAD_S)),
    );
    for (let from = 0; from < meant.length; from += atOnce) {
      const state = await this.#runJudged(partition, meant.slice(from, from + atOnce), sending);
      if (state !== null) return state;
    }
    progress.pass(partition, { next: batch.next, sent: 0, leftOut: [] });
    await progress.writeWhenDue();
    return null;
  }

  async #runJudged(partition: number, meant: readonly FoundDeadLetter[], sending: Sending): Promise<RunState | null> {
    const { progress } = this.#parts;
    const causes = await this.#judge(meant);
    for (let at = 0; at < meant.length; ) {
      const stopped = this.#stopState();
      if (stopped !== null) return stopped;
      const paced = sending.pace?.allowed(this.#options.clock.monotonicMs()) ?? STEP;
      const allowed = Math.min(STEP, progress.sendable, paced);
      if (allowed > 0) at = await this.#sendStep(partition, { meant, causes, at, allowed }, sending);
      else if (progress.sendable > 0) await delay(LOOK_MS);
      await progress.writeWhenDue();
    }
    return null;
  }

  /**
   * Sends at most `allowed` dead letters, and passes the dead letters between them that are skipped. Returns the index
   * behind the last.
   */
  async #sendStep(partition: number, step: Step, { producer, pace }: Sending): Promise<number> {
    const { meant, causes, allowed } = step;
    const outgoing: OutgoingRecord[] = [];
    const leftOut: SkippedDeadLetter[] = [];
    let { at } = step;
    for (; at < meant.length && outgoing.length < allowed; at += 1) {
      const [found, cause] = [meant[at], causes[at] ?? null];
      if (found === undefined) break;
      if (cause === null) outgoing.push(this.#toDelivery(found));
      else leftOut.push({ offset: found.facts.offset, cause });
    }
    pace?.take(outgoing.length, this.#options.clock.monotonicMs());
    if (outgoing.length > 0) await this.#unlessEnded(producer.send(outgoing));
    this.#options.onReplayed?.(outgoing.length);
    const next = (meant[at - 1]?.facts.offset ?? -1) + 1;
    this.#parts.progress.pass(partition, { next, sent: outgoing.length, leftOut });
    return at;
  }

  /** Z6. While the delivery log cannot be asked, the deliveries since the plan was made are not known. */
  async #judge(meant: readonly FoundDeadLetter[]): Promise<readonly (SkipCause | null)[]> {
    const { judge, log } = this.#options;
    const { again, startedAtMs, createdAtMs } = this.plan;
    const judging = { replayId: this.#parts.id, again, beforeMs: startedAtMs ?? createdAtMs };
    return await judge.judgeAnyway(meant, judging, (reason) =>
      log.warn({ event: "replay_judged_without_log", replayId: this.#parts.id, reason }),
    );
  }

  /** The state in which the run is to stop; null while it is to go on. */
  #stopState(): RunState | null {
    if (this.#parts.signal.aborted) return "waiting";
    const { want } = this.plan;
    if (want === "running") return null;
    return want === "cancelled" ? "cancelled" : "paused";
  }

  /** Z1. Under `settle: each` only the URLs that are dead are owed. */
  #toDelivery({ deadLetter, record }: FoundDeadLetter): OutgoingRecord {
    const { names, deliveries, settlesEach, traces } = this.#options;
    const { topic, partition, offset, key } = record;
    const { destinationId, messageId, lastAttempt } = deadLetter;
    const replayId = this.#parts.id;
    const urls = settlesEach(destinationId) && lastAttempt.length > 0 ? lastAttempt.map(({ url }) => url) : null;
    const terms = { replayId, from: `${topic}/${partition}/${offset}`, urls };
    const value = deliveries.encode(replayedDelivery(deadLetter));
    const headers = encodeProgress(replayedProgress(deadLetter, terms));
    const again = { topic: names.deliveries, key, value, headers };
    if (traces === undefined) return again;
    return tracedAgain(traces, again, { name: "replay", from: record, replayId, destinationId, messageId });
  }

  /**
   * Waits for a send. When the run is ended, dead letters on their way are still waited for, so that they are counted,
   * but for no longer than `LAST_SEND_MS`.
   */
  async #unlessEnded(sent: Promise<void>): Promise<void> {
    const { signal } = this.#parts;
    const ended = Promise.withResolvers<never>();
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      timer = setTimeout(() => ended.reject(new PosthasteError("closed", "the run is ended")), LAST_SEND_MS);
    };
    signal.addEventListener("abort", end, { once: true });
    try {
      await Promise.race([sent, ended.promise]);
    } finally {
      signal.removeEventListener("abort", end);
      clearTimeout(timer);
    }
  }
}
