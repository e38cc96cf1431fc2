/**
 * An answer that costs more than the requests for it: it is made once for all that ask at a time.
 *
 * Owns: the answer that is to be made next.
 * OA1  One is made at a time. A call gets one whose making begins after the call, with all other calls until then.
 * OA2  After each a rest follows, `REST_TIMES` as long as it took and `MOST_REST_MS` at most: however many ask, answers
 *      take a tenth of the time.
 */
import { setTimeout as delay } from "node:timers/promises";

const REST_TIMES = 9;
const MOST_REST_MS = 500;

export interface SharedAnswerOptions<T> {
  readonly make: () => Promise<T>;
  /** A clock in ms. */
  readonly now?: () => number;
  readonly rest?: (ms: number) => Promise<unknown>;
}

export class SharedAnswer<T> {
  readonly #options: Required<SharedAnswerOptions<T>>;
  #next: Promise<T> | null = null;
  /** Resolves when the next answer may be made. */
  #rested: Promise<unknown> = Promise.resolve();

  constructor({ make, now = () => performance.now(), rest = restUnheld }: SharedAnswerOptions<T>) {
    this.#options = { make, now, rest };
  }

  /** Resolves with the next answer; rejects with the error of its making. */
  ask(): Promise<T> {
    this.#next ??= this.#makeNext();
    return this.#next;
  }

  async #makeNext(): Promise<T> {
    const { make, now, rest } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#rested;
    this.#rested = promise;
    await before;
    this.#next = null;
    const begunMs = now();
    try {
      return await make();
    } finally {
      void rest(Math.min(MOST_REST_MS, REST_TIMES * (now() - begunMs))).then(() => resolve());
    }
  }
}

/** A rest does not hold the process. */
function restUnheld(ms: number): Promise<unknown> {
  return delay(ms, undefined, { ref: false });
}
