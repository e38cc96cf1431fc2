/**
 * The deliveries that wait for one URL: first attempts and retries apart, served in turn.
 *
 * Q1  Where both kinds wait they are taken in turn, so that retries do not starve behind what is new, nor the reverse
 *     (I2).
 * Q2  What is deferred is taken from the end: what came first is served first.
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

  /** The next to be served (Q1). */
  peek(): W | undefined {
    return this.#next().peekFront();
  }

  /** Takes out the one that `peek` names. */
  shift(): void {
    const queue = this.#next();
    queue.shift();
    this.#firstAttemptIsNext = queue === this.#retries;
  }

  /** The one to be deferred first (Q2). */
  peekLast(): W | undefined {
    return this.#longer().peekBack();
  }

  /** Takes out the one that `peekLast` names. */
  pop(): void {
    this.#longer().pop();
  }

  /** Takes out those that are meant, and leaves the others in their order. */
  takeOut(isMeant: (waiter: W) => boolean): readonly W[] {
    return [...takeOut(this.#firstAttempts, isMeant), ...takeOut(this.#retries, isMeant)];
  }

  /** Takes out all, in the order of their coming within each kind. */
  drain(): readonly W[] {
    const all = [...this.#firstAttempts.toArray(), ...this.#retries.toArray()];
    this.#firstAttempts.clear();
    this.#retries.clear();
    return all;
  }

  /**
   * How many go before a newcomer of this kind: where both kinds wait each has half of the turns, so twice its own
   * queue.
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
  const taken = waiters.filter(isMeant);
  if (taken.length === 0) return taken;
  queue.clear();
  for (const waiter of waiters) if (!isMeant(waiter)) queue.push(waiter);
  return taken;
}
