/**
 * Has it decided every tenth of a second how far the windows are filled (window-fill.ts).
 *
 * Owns: one timer, where the consumer has a working set. From `start` to `stop` the ticks are
 * - *running* from `wake` on, until a look finds every owned partition at rest;
 * - *asleep* after that, until `wake`.
 * FT1  While the ticks are asleep no look would change anything: whoever hands records to a partition, or gains one,
 *      calls `wake`.
 * FT2  The first look after `wake` is told whether the process was busy since `wake`, and not how idle it was before.
 */
import type { WorkingSet } from "./windowed-consumer.ts";

const TICK_MS = 100;

/** What is asked of an owned partition. */
export interface Filling {
  /** It holds no record, and is filled to its limits when records come. */
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

  /** Cheap while the ticks are running. */
  wake(): void {
    const { workingSet } = this.#options;
    if (this.#timer !== undefined || !this.#isStarted || workingSet === undefined) return;
    // FT2: `isBusy` tells of the time since it was asked last.
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
