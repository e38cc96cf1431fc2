/**
 * The order in which the store's thread carries out its calls.
 *
 * Owns: the changes that wait.
 * QO1  Changes are made in the order in which they come.
 * QO2  A question is answered before the changes that wait: every partition of every topic may have one, and a question
 *      waits for the one alone that is being made. It is answered by every change that was answered before it came.
 */
import { setImmediate as nextRound } from "node:timers/promises";

export interface CallOrderOptions<Call> {
  readonly isChange: (call: Call) => boolean;
  readonly run: (call: Call) => void;
}

export class CallOrder<Call> {
  readonly #options: CallOrderOptions<Call>;
  readonly #waiting: Call[] = [];
  #isChanging = false;

  constructor(options: CallOrderOptions<Call>) {
    this.#options = options;
  }

  take(call: Call): void {
    if (!this.#options.isChange(call)) {
      this.#options.run(call);
      return;
    }
    this.#waiting.push(call);
    if (!this.#isChanging) void this.#makeChanges();
  }

  /** Makes one change in each round of the event loop; questions come in between. */
  async #makeChanges(): Promise<void> {
    this.#isChanging = true;
    while (this.#waiting.length > 0) {
      // Before the first one too: a question that came right behind it is answered first.
      await nextRound();
      const next = this.#waiting.shift();
      if (next !== undefined) this.#options.run(next);
    }
    this.#isChanging = false;
  }
}
