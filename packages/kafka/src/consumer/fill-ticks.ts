/**
 * Has it decided every tenth of a second how far the windows are filled (window-fill.ts).
 *
 * Owns: one timer, where the consumer has a working set.
 */
import type { WorkingSet } from "./windowed-consumer.ts";

const TICK_MS = 100;

/** What is asked of an owned partition. */
export interface Filling {
  lookAtFill(isBusy: boolean): void;
}

export interface FillTicksOptions {
  readonly workingSet: WorkingSet | undefined;
  readonly owned: () => readonly Filling[];
}

export class FillTicks {
  readonly #options: FillTicksOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FillTicksOptions) {
    this.#options = options;
  }

  start(): void {
    const { workingSet, owned } = this.#options;
    if (workingSet === undefined) return;
    this.#timer ??= setInterval(() => {
      const isBusy = workingSet.isBusy();
      for (const each of owned()) each.lookAtFill(isBusy);
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
