/**
 * Looks every tenth of a second how far each window is to be filled (window-fill.ts).
 *
 * Owns: one timer, if the consumer has a working set. From `start` to `stop` the ticks are
 * - *running* from `wake` on, until a look finds every owned partition at rest;
 * - *asleep* from then on, until `wake`.
 * FT1  While the ticks are asleep a look would change nothing. The consumer calls `wake` when it gives records to a
 *      partition or gains one.
 * FT2  The first look after `wake` learns whether the process was busy since `wake`; the time before does not count.
 */
import type { WorkingSet } from "./windowed-consumer.ts";

const TICK_MS = 100;

/** An owned partition, as the ticks use it. */
export interface Filling {
  /** The partition holds no record, fetched ones included, and its window may be filled to its limits. */
  readonly isAtRest: boolean;
  lookAtFill(isBusy: boolean): void;
}

export interface FillTicksOptions {
  readonly workingSet: WorkingSet | undefined;
  readonly owned: () => readonly Filling[];
}

export class FillTicks {
  readonly #options: FillTicksOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;

  constructor(options: FillTicksOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Starts the ticks. Cheap while they are running. */
  wake(): void {
    const { workingSet } = this.#options;
    if (this.#timer !== undefined || !this.#isStarted || workingSet === undefined) return;
    // `isBusy` answers for the time since its last call, so this call starts that time anew (FT2).
    workingSet.isBusy();
    this.#timer = setInterval(() => this.#look(workingSet), TICK_MS);
  }

  stop(): void {
    this.#isStarted = false;
    this.#sleep();
  }

  #look(workingSet: WorkingSet): void {
    const owned = this.#options.owned();
    const isBusy = workingSet.isBusy();
    for (const each of owned) each.lookAtFill(isBusy);
    if (owned.every(({ isAtRest }) => isAtRest)) this.#sleep();
  }

  #sleep(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
