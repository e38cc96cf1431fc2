/**
 * Does the work of requests a little at a time and in fair order, so that one source's work does not hold up another's.
 *
 * Owns: the order of the work, and the time that work has had in this round of the event loop.
 * QW1  In one round of the event loop work is done for `ROUND_MS`, and at most one piece of work goes on beyond that.
 *      The work of strangers, whose source is not known, has `STRANGERS_ROUND_MS` of this in the same way. Between two
 *      rounds the process handles the brokers' answers and new requests.
 * QW2  Work that finds no other waiting and time left in the round is done at once. Other work waits, in the order of
 *      the time that each source's work has cost (FQ1 and FQ2 of fair-queue.ts). All strangers are one flow of that
 *      order, and share it by their addresses.
 * QW3  Long work is done in steps, with work of others in between. A source has one piece of long work begun, and all
 *      sources together have `MAX_BEGUN`, which bounds the memory of begun work.
 * QW4  The process is busy while its rounds, with everything else in them, take longer than `BUSY_ROUND_MS` in the
 *      mean.
 * QW5  A source whose waiting work is its share of the work that may wait, or more, may add no more (FQ3 of
 *      fair-queue.ts).
 * QW6  Node accepts one connection in a round, so a new connection waits for a round for each that came before it.
 *      While connections come, up to `CONNECTING_ROUNDS` rounds without work, which are short, are between two with
 *      work.
 * QW7  An address is a crowd when more than `CROWD` of its strangers' requests wait for their work. Requests are
 *      counted, and not their time, since time tells how busy the machine is; and only the address's own, since others
 *      say nothing of it.
 */

import {
  BUSY_ROUND_MS,
  CONNECTING_ROUNDS,
  CROWD,
  MAX_BEGUN,
  MAX_WAITING_WORK_MS,
  ROUND_MS,
  STRANGERS_ROUND_MS,
  USUAL_WORK_MS,
} from "../limits.ts";
import { createFairQueue, flowOf } from "./fair-queue.ts";
import { createRecentTime, type RecentTime } from "./recent-time.ts";
import { createRoundEnd } from "./round-end.ts";

/** The sender of work. */
export interface WorkSender {
  /** The id of the source; null for a stranger, whose key only the body has. */
  readonly source: string | null;
  readonly address: string;
}

/** Work in steps, which returns its result. */
export type Steps<Result> = Generator<void, Result | Promise<Result>>;

export interface WorkQueue {
  /** Whether the process is busy (QW4). */
  isBusy(): boolean;
  /** Whether the sender has its share of the work that may wait (QW5). */
  isFull(sender: WorkSender): boolean;
  /** Whether the address is a crowd (QW7). */
  isCrowd(address: string): boolean;
  /** Notes that a connection was made, so that others may be waiting (QW6). */
  connected(): void;
  /** How much time the source's work had lately, in ms. */
  recentMs(source: string): number;
  /** Does short work, at once or in its turn. */
  run<Result>(sender: WorkSender, work: () => Result | Promise<Result>): Result | Promise<Result>;
  /** Does work of a source that may be long, in its turn and in steps (QW3). */
  runInSteps<Result>(source: string, begin: () => Steps<Result>): Promise<Result>;
}

/** A piece of work and its progress. */
interface Job {
  readonly isLong: boolean;
  isBegun: boolean;
  spentMs: number;
  /** Does a step; true when it was the last. */
  readonly step: () => boolean;
}

/** A piece of work with its sender. */
interface SentJob {
  readonly sender: WorkSender;
  readonly job: Job;
}

/** The entry in the queue of sources that stands for the next work of a stranger. */
const NEXT_STRANGER = null;

/** The weight of the newest round in the mean. */
const NEWEST_ROUND = 1 / 8;

const BOUNDS = { maxWaitingCost: MAX_WAITING_WORK_MS, usualCost: USUAL_WORK_MS };

/** `monotonicMs`: the monotonic clock, in ms. */
export function createWorkQueue(monotonicMs: () => number): WorkQueue {
  return new RoundedWorkQueue(monotonicMs);
}

class RoundedWorkQueue implements WorkQueue {
  readonly #monotonicMs: () => number;
  readonly #sources = createFairQueue<Job | typeof NEXT_STRANGER>(BOUNDS);
  readonly #strangers = createFairQueue<Job>(BOUNDS);
  readonly #recent: RecentTime;
  readonly #roundEnd = createRoundEnd(() => this.#nextRound());
  #begun = 0;
  /** The time that work has had in this round. While it is not 0, the queue waits for the end of the round. */
  #spentMs = 0;
  #strangersSpentMs = 0;
  #roundStartMs = 0;
  #meanRoundMs = 0;
  #hasConnected = false;
  /** How many rounds without work connections may still have before the next with work. */
  #connectingRounds = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#recent = createRecentTime(monotonicMs);
  }

  isBusy(): boolean {
    return this.#meanRoundMs > BUSY_ROUND_MS;
  }

  isFull({ source, address }: WorkSender): boolean {
    return source === null ? this.#strangers.isFull(address) : this.#sources.isFull(source);
  }

  isCrowd(address: string): boolean {
    return this.#strangers.waitingOf(address) > CROWD;
  }

  recentMs(source: string): number {
    return this.#recent.of(source);
  }

  connected(): void {
    this.#hasConnected = true;
  }

  run<Result>(sender: WorkSender, work: () => Result | Promise<Result>): Result | Promise<Result> {
    if (this.#sources.size === 0 && this.#hasTime(sender)) return this.#runAtOnce(sender, work);
    return new Promise<Result>((resolve, reject) => {
      const step = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
        return true;
      };
      this.#add({ sender, job: { isLong: false, isBegun: false, spentMs: 0, step } });
    });
  }

  runInSteps<Result>(source: string, begin: () => Steps<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      let steps: Steps<Result> | undefined;
      const step = () => {
        try {
          steps ??= begin();
          const next = steps.next();
          if (next.done === true) resolve(next.value);
          return next.done === true;
        } catch (error) {
          reject(error);
          return true;
        }
      };
      this.#add({ sender: { source, address: "" }, job: { isLong: true, isBegun: false, spentMs: 0, step } });
    });
  }

  /** Whether this round has time left for the sender (QW1). */
  #hasTime({ source }: WorkSender): boolean {
    return this.#spentMs < ROUND_MS && (source !== null || this.#strangersSpentMs < STRANGERS_ROUND_MS);
  }

  #runAtOnce<Result>(sender: WorkSender, work: () => Result): Result {
    this.#waitForEnd();
    const startMs = this.#monotonicMs();
    try {
      return work();
    } finally {
      const costMs = this.#monotonicMs() - startMs;
      this.#note(sender, costMs);
      this.#sources.chargeWithoutWaiting(flowOf(sender.source), costMs);
      if (sender.source === null) this.#strangers.chargeWithoutWaiting(sender.address, costMs);
    }
  }

  /** Notes the cost of the sender's work, whether it had waited or not. */
  #note({ source }: WorkSender, costMs: number): void {
    this.#spentMs += costMs;
    if (source === null) this.#strangersSpentMs += costMs;
    else this.#recent.add(source, costMs);
  }

  #add({ sender, job }: SentJob): void {
    if (sender.source !== null) {
      this.#sources.add(sender.source, job);
    } else {
      this.#strangers.add(sender.address, job);
      this.#sources.add(flowOf(null), NEXT_STRANGER);
    }
    this.#waitForEnd();
  }

  #waitForEnd(): void {
    if (this.#roundEnd()) this.#roundStartMs = this.#monotonicMs();
  }

  /** Begins the time of the next round, at the end of each (QW1). */
  #nextRound(): void {
    if (this.#sources.size > 0 && this.#isForConnections()) {
      this.#waitForEnd();
      return;
    }
    this.#spentMs = 0;
    this.#strangersSpentMs = 0;
    this.#meanRoundMs += (this.#monotonicMs() - this.#roundStartMs - this.#meanRoundMs) * NEWEST_ROUND;
    while (this.#spentMs < ROUND_MS) {
      const next = this.#take();
      if (next === undefined) break;
      this.#step(next);
    }
    if (this.#spentMs > 0 || this.#sources.size > 0) this.#waitForEnd();
  }

  /** Whether this round is left to new connections (QW6). */
  #isForConnections(): boolean {
    const isTheirs = this.#hasConnected && this.#connectingRounds > 0;
    this.#connectingRounds = isTheirs ? this.#connectingRounds - 1 : CONNECTING_ROUNDS;
    this.#hasConnected = false;
    return isTheirs;
  }

  readonly #mayBegin = (job: Job | typeof NEXT_STRANGER): boolean =>
    job === NEXT_STRANGER
      ? this.#strangersSpentMs < STRANGERS_ROUND_MS
      : !job.isLong || job.isBegun || this.#begun < MAX_BEGUN;

  #take(): SentJob | undefined {
    const next = this.#sources.take(this.#mayBegin);
    if (next === undefined) return undefined;
    if (next.work !== NEXT_STRANGER) return { sender: { source: next.flow, address: "" }, job: next.work };
    const stranger = this.#strangers.take(this.#mayBegin);
    return stranger && { sender: { source: null, address: stranger.flow }, job: stranger.work };
  }

  #step({ sender, job }: SentJob): void {
    const startMs = this.#monotonicMs();
    if (job.isLong && !job.isBegun) this.#begun++;
    job.isBegun = true;
    const isDone = job.step();
    const costMs = this.#monotonicMs() - startMs;
    job.spentMs += costMs;
    this.#note(sender, costMs);
    const flow = flowOf(sender.source);
    this.#sources.charge(flow, costMs);
    if (sender.source === null) this.#strangers.charge(sender.address, costMs);
    // Only a source's work has several steps.
    if (!isDone) {
      this.#sources.putBack({ flow, work: job });
      return;
    }
    if (job.isLong) this.#begun--;
    this.#sources.updateExpectedCost(flow, job.spentMs);
    if (sender.source === null) this.#strangers.updateExpectedCost(sender.address, job.spentMs);
  }
}
