/** A sleep that something else can end. */
import { setTimeout as delay } from "node:timers/promises";

export interface Sleep {
  /** However early it is woken. */
  readonly atLeastMs: number;
  readonly atMostMs: number;
}

export class Waker {
  readonly #signal: AbortSignal;
  #isWoken = false;
  #end: (() => void) | null = null;

  /** `signal` ends every sleep. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#end?.());
  }

  /** Ends the sleep under way, or the next one. */
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
