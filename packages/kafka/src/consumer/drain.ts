/**
 * Drains before partitions may be given up (C4): it stops new work, waits for the tasks that run, and commits their
 * progress.
 *
 * Owns: the one drain before the next JOIN, and the drains that wait for running tasks.
 */
import { pause, withDeadline } from "../connection/deadline.ts";

/** An owned partition, as the drain uses it. */
export interface Draining {
  /** Tasks that were started and are not finished. */
  readonly running: number;
  /** From now on the partition takes nothing in and starts nothing. */
  freeze(): void;
}

export interface DrainOptions {
  readonly owned: () => readonly Draining[];
  /** Ends the work that the consumer's user does beside the records. */
  readonly endOther?: (() => Promise<void>) | undefined;
  /** Commits the finished records. Resolves when the brokers accepted or refused it. */
  readonly flush: () => Promise<void>;
  /** How long a drain before a JOIN waits for running tasks, in ms. */
  readonly rebalanceDrainMs: number;
  /** How long each drain waits for `flush`, in ms. */
  readonly lastCommitMs: number;
}

export class Drain {
  readonly #options: DrainOptions;
  /** The drain before the next JOIN, which all callers share: kafkajs may run two JOINs at once. */
  #beforeJoin: Promise<void> | null = null;
  /** One for each drain that waits for running tasks. */
  readonly #waiting = new Set<AbortController>();

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /**
   * Drains before a JOIN, also while `stop` drains: running tasks may take as long as `stop` allows, but no JOIN waits
   * that long.
   */
  beforeJoin(): Promise<void> {
    const { owned, rebalanceDrainMs } = this.#options;
    this.#beforeJoin ??= owned().length === 0 ? null : this.drain(rebalanceDrainMs);
    return this.#beforeJoin ?? Promise.resolve();
  }

  /** The JOIN is over: the next one needs a new drain. */
  joined(): void {
    this.#beforeJoin = null;
  }

  /**
   * Freezes every window, waits at most `timeoutMs` for running tasks, then for the last commit. Resolves also when
   * they take longer.
   */
  async drain(timeoutMs: number): Promise<void> {
    for (const each of this.#options.owned()) each.freeze();
    const other = this.#endOther(timeoutMs);
    if (this.#hasRunning()) await this.#untilIdle(timeoutMs);
    if (other !== undefined) await other;
    const { flush, lastCommitMs } = this.#options;
    await withDeadline(flush(), lastCommitMs, "the last commit").catch(() => undefined);
  }

  /** The consumer calls this when the last running task of a frozen partition is finished. */
  onIdle(): void {
    if (this.#hasRunning()) return;
    for (const waiting of this.#waiting) waiting.abort();
  }

  /** Ends the other work. Resolves after `timeoutMs` at the latest. */
  #endOther(timeoutMs: number): Promise<void> | undefined {
    const ended = this.#options.endOther?.();
    return ended && withDeadline(ended, timeoutMs, "ending what runs beside").catch(() => undefined);
  }

  async #untilIdle(timeoutMs: number): Promise<void> {
    const waiting = new AbortController();
    this.#waiting.add(waiting);
    await pause(timeoutMs, waiting.signal);
    this.#waiting.delete(waiting);
  }

  #hasRunning(): boolean {
    return this.#options.owned().some(({ running }) => running > 0);
  }
}
