/**
 * The deliveries that wait for one URL: first attempts and retries in a queue each, served alternately.
 *
 * WQ1  Where both kinds wait, a first attempt and a retry are served alternately, so that neither starves behind the
 *      other (I2).
 * WQ2  A delivery that is deferred is taken from the end: the delivery that came first is served first.
 */
import Denque from "denque";

/** What waits. */
export interface Waiter {
  /** It comes from a retry topic. */
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

  /** The next to be served (WQ1). */
  peek(): W | undefined {
    return this.#next().peekFront();
  }

  /** Takes out the one that `peek` names. */
  shift(): void {
    const queue = this.#next();
    queue.shift();
    this.#firstAttemptIsNext = queue === this.#retries;
  }

  /** The one to be deferred first (WQ2). */
  peekLast(): W | undefined {
    return this.#longer().peekBack();
  }

  /** Takes out the one that `peekLast` names. */
  pop(): void {
    this.#longer().pop();
  }

  /** Takes out the waiters of which `isMeant` is true, and leaves the others in their order. */
  takeOut(isMeant: (waiter: W) => boolean): readonly W[] {
    return [...takeOut(this.#firstAttempts, isMeant), ...takeOut(this.#retries, isMeant)];
  }

  /** Takes out all waiters, those of a kind in the order of their coming. */
  drain(): readonly W[] {
    const all = [...this.#firstAttempts.toArray(), ...this.#retries.toArray()];
    this.#firstAttempts.clear();
    this.#retries.clear();
    return all;
  }

  /**
   * How many waiters go before a new one of this kind. Where both kinds wait, each is served every other time, so twice
   * as many as its own kind has.
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
