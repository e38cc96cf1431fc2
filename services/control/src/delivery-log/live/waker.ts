/** A sleep that a call of `wake` ends. */
import { setTimeout as delay } from "node:timers/promises";

export interface Sleep {
  /** The sleep lasts at least this many ms, however early `wake` is called. */
  readonly atLeastMs: number;
  readonly atMostMs: number;
}

export class Waker {
  readonly #signal: AbortSignal;
  #isWoken = false;
  #end: (() => void) | null = null;

  /** When `signal` is aborted, every sleep ends. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#end?.());
  }

  /** Ends the sleep under way or, where there is none, the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  async sleep({ atLeastMs, atMostMs }: Sleep): Promise<void> {
    await delay(atLeastMs, undefined, { signal: this.#signal }).catch(() => undefined);
    if (!this.#isWoken && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, atMostMs - atLeastMs));
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#end = null;
    }
    this.#isWoken = false;
  }
}
