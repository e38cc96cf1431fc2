/**
 * Whether this process may run replays: from when the group gives it the partition until it is given up, but for the
 * time of a rebalance.
 *
 * Owns: that, and what is being run.
 * TN1  While a rebalance goes on nothing is begun. What runs is ended in order, so that whoever has the partition next,
 *      this process or another, goes on behind all that was sent; the rebalance waits for that.
 * TN2  What runs is ended when the partition is given up, whether or not a rebalance told of it before.
 */
export class RunTurn {
  /** Of the partition; aborted when it is given up. */
  #owning: AbortController | null = null;
  /** Aborted when a rebalance begins. */
  #unheld = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** The partition was given to this process. Aborted when it is given up. */
  begin(): AbortSignal {
    this.end();
    this.#owning = new AbortController();
    return this.#owning.signal;
  }

  /** It is given up. */
  end(): void {
    this.#owning?.abort();
  }

  /** A rebalance begins. Resolves when nothing runs any more (TN1). */
  async hold(): Promise<void> {
    this.#unheld.abort();
    await Promise.all(this.#running);
  }

  /** It is over: a partition that was not given up is this process's still. */
  goOn(): void {
    if (this.#unheld.signal.aborted) this.#unheld = new AbortController();
  }

  get isOurs(): boolean {
    return this.#owning?.signal.aborted === false && !this.#unheld.signal.aborted;
  }

  /** Runs where it may; `signal` ends it in order. Rejects as `work` does. */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const owning = this.#owning;
    if (owning === null || !this.isOurs) return;
    const run = work(AbortSignal.any([owning.signal, this.#unheld.signal]));
    const ended = run.catch(() => undefined);
    this.#running.add(ended);
    try {
      await run;
    } finally {
      this.#running.delete(ended);
    }
  }
}
