/** Backpressure by the bytes that a producer was given and the brokers have not acknowledged. */
import type { Backpressure } from "../connection/backpressure.ts";

export class PendingBound implements Backpressure {
  readonly #maxBytes: number;
  readonly #pendingBytes: () => number;
  readonly #listeners: (() => void)[] = [];
  #wasHolding = false;

  /**
   * Holds while `maxBytes` or more are pending. So the first record that comes when nothing is pending is taken,
   * however large it is.
   */
  constructor(maxBytes: number, pendingBytes: () => number) {
    this.#maxBytes = maxBytes;
    this.#pendingBytes = pendingBytes;
  }

  get isHolding(): boolean {
    if (this.#pendingBytes() < this.#maxBytes) return false;
    this.#wasHolding = true;
    return true;
  }

  onReleased(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The producer calls it when fewer bytes may be pending than before. */
  relieved(): void {
    if (!this.#wasHolding || this.isHolding) return;
    this.#wasHolding = false;
    for (const listener of this.#listeners) listener();
  }
}
