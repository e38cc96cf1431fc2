/**
 * Draining before partitions may be given up: nothing more is started, what runs is waited for, and what it finished is
 * committed (C4).
 *
 * Owns: the one drain before the next JOIN, and who waits at the moment for the windows to fall idle.
 */
import { pause, withDeadline } from "../connection/deadline.ts";

/** What is asked of an owned partition. */
export interface Draining {
  /** Tasks that were started and are not finished. */
  readonly running: number;
  /** Nothing is taken in or started from now on. */
  freeze(): void;
}

export interface DrainOptions {
  readonly owned: () => readonly Draining[];
  /** What the owner of the partitions does beside the records; ends it. */
  readonly endOther?: (() => Promise<void>) | undefined;
  /** Commits what is finished; resolves when that was answered. */
  readonly flush: () => Promise<void>;
  /** How long the JOIN may be held up for what runs, in ms. */
  readonly rebalanceDrainMs: number;
  /** How long a drain waits for `flush`, in ms. */
  readonly lastCommitMs: number;
}

export class Drain {
  readonly #options: DrainOptions;
  /** The drain before the next JOIN, for all that ask for it: kafkajs may join twice at once. */
  #beforeJoin: Promise<void> | null = null;
  /** One for each drain that waits until nothing runs. */
  readonly #waiting = new Set<AbortController>();

  constructor(options: DrainOptions) {
    this.#options = options;
  }

  /** Also while the consumer stops: what runs may take as long as `stop` allows, but no JOIN waits for it that long. */
  beforeJoin(): Promise<void> {
    const { owned, rebalanceDrainMs } = this.#options;
    this.#beforeJoin ??= owned().length === 0 ? null : this.drain(rebalanceDrainMs);
    return this.#beforeJoin ?? Promise.resolve();
  }

  /** The JOIN is over: the next one drains anew. */
  joined(): void {
    this.#beforeJoin = null;
  }

  /** Freezes every window, waits for what runs, at most `timeoutMs`, and for the last commit. */
  async drain(timeoutMs: number): Promise<void> {
    for (const each of this.#options.owned()) each.freeze();
    const other = this.#endOther(timeoutMs);
    if (this.#hasRunning()) await this.#untilIdle(timeoutMs);
    if (other !== undefined) await other;
    const { flush, lastCommitMs } = this.#options;
    await withDeadline(flush(), lastCommitMs, "the last commit").catch(() => undefined);
  }

  /** To be called when a frozen partition has nothing left that runs. */
  onIdle(): void {
    if (this.#hasRunning()) return;
    for (const waiting of this.#waiting) waiting.abort();
  }

  /** Resolves after `timeoutMs` at the latest. */
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
