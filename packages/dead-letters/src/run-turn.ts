/**
 * Whether this process may run replays.
 *
 * Owns: that, and the work that is under way. States: *given up* at first and after `end`; *ours* from `begin`, when
 * the group gives the partition; *held* from `hold` to `goOn`, while a rebalance goes on.
 * TN1  While a rebalance goes on nothing is begun. Work under way is ended in order, so that whichever process has the
 *      partition next goes on behind all that was sent; the rebalance waits for that.
 * TN2  Work under way is ended when the partition is given up, whether a rebalance announced that or not.
 * TN3  After `close` nothing is begun any more: a rebalance may give the partition to a process that is ending.
 */
export class RunTurn {
  /** Aborted when the partition is given up. */
  #owning: AbortController | null = null;
  /** Aborted when a rebalance begins. */
  #unheld = new AbortController();
  #isClosed = false;
  readonly #running = new Set<Promise<void>>();

  /** The partition was given to this process. The answered signal is aborted when it is given up, or already (TN3). */
  begin(): AbortSignal {
    this.end();
    this.#owning = new AbortController();
    if (this.#isClosed) this.end();
    return this.#owning.signal;
  }

  /** The partition is given up. */
  end(): void {
    this.#owning?.abort();
  }

  /** The process ends. */
  close(): void {
    this.#isClosed = true;
    this.end();
  }

  /** A rebalance begins. Resolves when nothing runs any more (TN1). */
  async hold(): Promise<void> {
    this.#unheld.abort();
    await Promise.all(this.#running);
  }

  /** The rebalance is over: a partition that was not given up still belongs to this process. */
  goOn(): void {
    if (this.#unheld.signal.aborted) this.#unheld = new AbortController();
  }

  get isOurs(): boolean {
    return this.#owning?.signal.aborted === false && !this.#unheld.signal.aborted;
  }

  /** Runs `work`, if this process may; its `signal` ends it in order. Rejects as `work` does. */
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
