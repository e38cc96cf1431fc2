/**
 * The work that requests make, done a little at a time and in fair order, so that one source's work does not hold up
 * another's.
 *
 * Owns the order of the work, and the part of the event loop's time that work may have.
 * QW1  In one round of the event loop work is done for `ROUND_MS`, and for no longer than one piece of work goes on
 *      beyond that. Of this, the work of strangers, of whom no source is known, has `STRANGERS_ROUND_MS` in the same
 *      way. Between two rounds the process hears the brokers' answers and new requests.
 * QW2  Work that finds none waiting and time left is done at once. The rest waits (FQ1 and FQ2 of fair-queue.ts), in
 *      the order of what each source's work has cost in time. All strangers are one flow of that order, and share it by
 *      their addresses.
 * QW3  Long work is done in steps, with the work of others in between. A source has one piece of long work begun, and
 *      all sources together have `MAX_BEGUN`: so what begun work holds is bounded.
 * QW4  The process is busy while its rounds, everything else in them included, take longer than `BUSY_ROUND_MS` in the
 *      mean.
 * QW5  A source whose waiting work is its share of what may wait, or more, is to send no more (FQ3 of fair-queue.ts).
 * QW6  Node accepts one connection in a round, so whoever connects waits for as many rounds as others do before it.
 *      While connections come, up to `CONNECTING_ROUNDS` without work are between two with work: they are short.
 * QW7  An address of which strangers' work of more than `CROWD` requests waits is a crowd; what waits of others says
 *      nothing of it. They are counted, since time says how busy the machine is.
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

/** Whose work it is. */
export interface WorkSender {
  /** The id of the source; null where only the body can say. */
  readonly source: string | null;
  readonly address: string;
}

/** Work in steps; what it returns is what it comes to. */
export type Steps<Result> = Generator<void, Result | Promise<Result>>;

export interface WorkQueue {
  /** QW4. */
  isBusy(): boolean;
  /** Whether the sender has its share of what may wait (QW5). */
  isFull(sender: WorkSender): boolean;
  /** Whether so many requests of the stranger's own address wait that no client of its kind sends as many (QW7). */
  isCrowd(address: string): boolean;
  /** A connection was made; others may wait for theirs (QW6). */
  connected(): void;
  /** How much time the source's work has had lately, in ms. */
  recentMs(source: string): number;
  /** Does short work, at once or in its turn. */
  run<Result>(sender: WorkSender, work: () => Result | Promise<Result>): Result | Promise<Result>;
  /** Does work of a source that may be long, in its turn (QW3). */
  runInSteps<Result>(source: string, begin: () => Steps<Result>): Promise<Result>;
}

/** A piece of work, and how far it has got. */
interface Job {
  readonly isLong: boolean;
  isBegun: boolean;
  spentMs: number;
  /** Does a part; true when that was the last. */
  readonly step: () => boolean;
}

/** Work of which the queue knows whose it is. */
interface SentJob {
  readonly sender: WorkSender;
  readonly job: Job;
}

/** Stands in the queue of sources for the next work of a stranger. */
const NEXT_STRANGER = null;

/** What the newest round says of the mean. */
const NEWEST_ROUND = 1 / 8;

const BOUNDS = { maxWaitingCost: MAX_WAITING_WORK_MS, usualCost: USUAL_WORK_MS };

/** `monotonicMs`: ms, never going back. */
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
  /** Time that work has had in this round of the event loop. The end of the round is waited for while that is not 0. */
  #spentMs = 0;
  #strangersSpentMs = 0;
  #roundStartMs = 0;
  #meanRoundMs = 0;
  #hasConnected = false;
  /** Rounds without work that connections may still have before the next with work. */
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

  /** Notes what work of the sender cost, whether or not it had waited. */
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

  /** At the end of each round the next round's time begins (QW1). */
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

  /** Whether this round is left to those who connect (QW6). */
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
    // Only the work of a source has steps.
    if (!isDone) {
      this.#sources.putBack({ flow, work: job });
      return;
    }
    if (job.isLong) this.#begun--;
    this.#sources.updateExpectedCost(flow, job.spentMs);
    if (sender.source === null) this.#strangers.updateExpectedCost(sender.address, job.spentMs);
  }
}
