/**
 * The work that requests make, done a little at a time and in fair order, so that one source's does not hold up another's.
 *
 * Owns the order of the work and the event loop's time for it.
 * T1  In one round of the event loop work is done for `ROUND_MS` and no longer than one piece of work goes on beyond that. Between two
 *     rounds the answers of the brokers and new requests are heard.
 * T2  Work that finds none waiting and time left is done at once. The rest waits its turn (Q1, Q2), by what each source's work
 *     has cost in time. All of whom no source is known take one turn, and share it by their addresses.
 * T3  Long work is done in steps, with others' in between. A source has one piece of it begun, and all together have
 *     `MAX_BEGUN`: what begun work holds is bounded.
 * T4  The process is busy while its rounds, everything else in them included, take longer than `BUSY_ROUND_MS` in the mean.
 * T5  A source whose waiting work is its share of what may wait, or more, is to send no more (Q3).
 * T6  Node accepts one connection in a round, so whoever connects waits for as many rounds as others do before it. While connections
 *     come, up to `CONNECTING_ROUNDS` without work are between two with work: they are short.
 */
import { createFairQueue } from "./fair-queue.ts";
import { BUSY_ROUND_MS, CONNECTING_ROUNDS, MAX_BEGUN, MAX_WAITING_WORK_MS, ROUND_MS, USUAL_WORK_MS } from "./limits.ts";
import { createRecentTime } from "./recent-time.ts";

/** Whose work it is. */
export interface WorkSender {
  /** The id of the source; null where only the body can say. */
  readonly source: string | null;
  readonly address: string;
}

/** Work in steps; what it returns is what it comes to. */
export type Steps<Result> = Generator<void, Result | Promise<Result>>;

export interface WorkQueue {
  /** T4. */
  isBusy(): boolean;
  /** Whether the sender has its share of what may wait (T5). */
  isFull(sender: WorkSender): boolean;
  /** A connection was made; others may wait for theirs (T6). */
  connected(): void;
  /** How much time the source's work has had lately, in ms. */
  recentMs(source: string): number;
  /** Does short work, at once or in its turn. */
  run<Result>(sender: WorkSender, work: () => Result | Promise<Result>): Result | Promise<Result>;
  /** Does work of a source that may be long, in its turn (T3). */
  runInSteps<Result>(source: string, begin: () => Steps<Result>): Promise<Result>;
}

interface Job {
  readonly isLong: boolean;
  isBegun: boolean;
  spentMs: number;
  /** Does a part; true when that was the last. */
  readonly step: () => boolean;
}

/** The flow of all senders without a source; no source has this id. */
const STRANGERS = "";
/** Stands in the queue for whoever is next of them. */
const NEXT_STRANGER = null;

/** What the newest round says of the mean. */
const NEWEST_ROUND = 1 / 8;

const BOUNDS = { maxWaitingCost: MAX_WAITING_WORK_MS, usualCost: USUAL_WORK_MS };

/** `monotonicMs`: ms, never going back. */
export function createWorkQueue(monotonicMs: () => number): WorkQueue {
  const sources = createFairQueue<Job | typeof NEXT_STRANGER>(BOUNDS);
  const strangers = createFairQueue<Job>(BOUNDS);
  const recent = createRecentTime(monotonicMs);
  let begun = 0;
  /** Time that this round of the event loop has had; its end is waited for while that is not 0. */
  let spentMs = 0;
  let isWaitingForEnd = false;
  let roundStartMs = 0;
  let meanRoundMs = 0;
  let hasConnected = false;
  /** Rounds without work that connections may still have before the next with work. */
  let connectingRounds = 0;

  const flowsOf = ({ source, address }: WorkSender) =>
    source === null
      ? [
          { queue: sources, flow: STRANGERS },
          { queue: strangers, flow: address },
        ]
      : [{ queue: sources, flow: source }];

  const charge = (sender: WorkSender, costMs: number) => {
    spentMs += costMs;
    if (sender.source !== null) recent.add(sender.source, costMs);
    for (const { queue, flow } of flowsOf(sender)) queue.charge(flow, costMs);
  };

  const learn = (sender: WorkSender, costMs: number) => {
    for (const { queue, flow } of flowsOf(sender)) queue.learn(flow, costMs);
  };

  const mayBegin = (job: Job | typeof NEXT_STRANGER) =>
    job === NEXT_STRANGER || !job.isLong || job.isBegun || begun < MAX_BEGUN;

  const add = (sender: WorkSender, job: Job) => {
    if (sender.source !== null) {
      sources.add(sender.source, job);
    } else {
      strangers.add(sender.address, job);
      sources.add(STRANGERS, NEXT_STRANGER);
    }
    waitForEnd();
  };

  const take = (): { sender: WorkSender; job: Job } | undefined => {
    const next = sources.take(mayBegin);
    if (next === undefined) return undefined;
    if (next.work !== NEXT_STRANGER) return { sender: { source: next.flow, address: "" }, job: next.work };
    const stranger = strangers.take(mayBegin);
    return stranger && { sender: { source: null, address: stranger.flow }, job: stranger.work };
  };

  const stepOnce = ({ sender, job }: { sender: WorkSender; job: Job }) => {
    const startMs = monotonicMs();
    if (job.isLong && !job.isBegun) begun++;
    job.isBegun = true;
    const isDone = job.step();
    const costMs = monotonicMs() - startMs;
    job.spentMs += costMs;
    charge(sender, costMs);
    if (!isDone) {
      // Only a source's work has steps.
      sources.putBack({ flow: sender.source ?? STRANGERS, work: job });
      return;
    }
    if (job.isLong) begun--;
    learn(sender, job.spentMs);
  };

  /** Whether this round is left to those who connect (T6). */
  const isForConnections = (): boolean => {
    const isTheirs = hasConnected && connectingRounds > 0;
    connectingRounds = isTheirs ? connectingRounds - 1 : CONNECTING_ROUNDS;
    hasConnected = false;
    return isTheirs;
  };

  /** T1: at the end of each round the next one's time begins. */
  const goOn = () => {
    isWaitingForEnd = false;
    if (sources.size > 0 && isForConnections()) return waitForEnd();
    spentMs = 0;
    meanRoundMs += (monotonicMs() - roundStartMs - meanRoundMs) * NEWEST_ROUND;
    while (spentMs < ROUND_MS) {
      const next = take();
      if (next === undefined) break;
      stepOnce(next);
    }
    if (spentMs > 0 || sources.size > 0) waitForEnd();
  };

  const waitForEnd = () => {
    if (isWaitingForEnd) return;
    isWaitingForEnd = true;
    roundStartMs = monotonicMs();
    setImmediate(goOn);
  };

  const runAtOnce = <Result>(sender: WorkSender, work: () => Result): Result => {
    waitForEnd();
    for (const { queue, flow } of flowsOf(sender)) queue.pass(flow);
    const startMs = monotonicMs();
    try {
      return work();
    } finally {
      const costMs = monotonicMs() - startMs;
      charge(sender, costMs);
      learn(sender, costMs);
    }
  };

  return {
    isBusy: () => meanRoundMs > BUSY_ROUND_MS,

    isFull: ({ source, address }) => (source === null ? strangers.isFull(address) : sources.isFull(source)),

    recentMs: recent.of,

    connected: () => {
      hasConnected = true;
    },

    run: <Result>(sender: WorkSender, work: () => Result | Promise<Result>) => {
      if (sources.size === 0 && spentMs < ROUND_MS) return runAtOnce(sender, work);
      return new Promise<Result>((resolve, reject) => {
        const step = () => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
          return true;
        };
        add(sender, { isLong: false, isBegun: false, spentMs: 0, step });
      });
    },

    runInSteps: <Result>(source: string, begin: () => Steps<Result>) =>
      new Promise<Result>((resolve, reject) => {
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
        add({ source, address: "" }, { isLong: true, isBegun: false, spentMs: 0, step });
      }),
  };
}
