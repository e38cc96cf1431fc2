/**
 * The deliveries that wait for one URL.
 *
 * Owns: two queues, of first attempts and of retries.
 * WQ1  Where both kinds wait, a first attempt and a retry are served alternately, so that neither kind starves behind
 *      the other (I2).
 * WQ2  The delivery to be deferred is taken from the end of the longer queue: the delivery that came first is served
 *      first.
 */
import Denque from "denque";

/** A delivery that waits. */
export interface Waiter {
  /** The delivery comes from a retry topic. */
  readonly isRetry: boolean;
}

export class WaitingQueue<W extends Waiter> {
  readonly #firstAttempts = new Denque<W>();
  readonly #retries = new Denque<W>();
  #firstAttemptIsNext = true;

  get length(): number {
    return this.#firstAttempts.length + this.#retries.length;
  }

  push(waiter: W): void {
    (waiter.isRetry ? this.#retries : this.#firstAttempts).push(waiter);
  }

  /** The waiter to be served next (WQ1). */
  peek(): W | undefined {
    return this.#next().peekFront();
  }

  /** Takes out the waiter that `peek` answers. */
  shift(): void {
    const queue = this.#next();
    queue.shift();
    this.#firstAttemptIsNext = queue === this.#retries;
  }

  /** The waiter to be deferred first (WQ2). */
  peekLast(): W | undefined {
    return this.#longer().peekBack();
  }

  /** Takes out the waiter that `peekLast` answers. */
  pop(): void {
    this.#longer().pop();
  }

  /** Takes out the waiters for which `isMeant` is true, and leaves the others in their order. */
  takeOut(isMeant: (waiter: W) => boolean): readonly W[] {
    return [...takeOut(this.#firstAttempts, isMeant), ...takeOut(this.#retries, isMeant)];
  }

  /** Takes out all waiters: the first attempts, then the retries, each in the order in which they came. */
  drain(): readonly W[] {
    const all = [...this.#firstAttempts.toArray(), ...this.#retries.toArray()];
    this.#firstAttempts.clear();
    this.#retries.clear();
    return all;
  }

  /**
   * How many waiters go before a new one of this kind. Where both kinds wait, one of each is served in turn, so at most
   * twice as many as its own kind has.
   */
  ahead(isRetry: boolean): number {
    const [own, other] = isRetry
      ? [this.#retries.length, this.#firstAttempts.length]
      : [this.#firstAttempts.length, this.#retries.length];
    return other === 0 || own >= other ? own + other : Math.min(own + other, 2 * own);
  }

  #next(): Denque<W> {
    if (this.#firstAttempts.length === 0) return this.#retries;
    if (this.#retries.length === 0) return this.#firstAttempts;
    return this.#firstAttemptIsNext ? this.#firstAttempts : this.#retries;
  }

  #longer(): Denque<W> {
    return this.#firstAttempts.length >= this.#retries.length ? this.#firstAttempts : this.#retries;
  }
}

function takeOut<W>(queue: Denque<W>, isMeant: (waiter: W) => boolean): readonly W[] {
  const waiters = queue.toArray();
  const meant = waiters.filter(isMeant);
  if (meant.length === 0) return meant;
  queue.clear();
  for (const waiter of waiters) if (!isMeant(waiter)) queue.push(waiter);
  return meant;
}
