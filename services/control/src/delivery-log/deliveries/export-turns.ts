/**
 * Turns in which exports use the processor.
 *
 * LX1  One export makes one step at a time. After it, no export makes one for as long as that step took, so that other
 *      requests get half of the process.
 */
export interface ExportTurnsOptions {
  readonly monotonicMs: () => number;
  readonly delay: (ms: number) => Promise<unknown>;
}

export class ExportTurns {
  readonly #options: ExportTurnsOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(options: ExportTurnsOptions) {
    this.#options = options;
  }

  /** Makes the step when its turn comes; rejects with the step's error. */
  async take<T>(step: () => T): Promise<T> {
    const { monotonicMs, delay } = this.#options;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    const begunAtMs = monotonicMs();
    try {
      return step();
    } finally {
      void delay(monotonicMs() - begunAtMs).then(() => resolve());
    }
  }
}
