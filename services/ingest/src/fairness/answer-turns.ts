/**
 * Answering, a little at a time and the sources in turns: the brokers acknowledge the calls of hundreds of requests at
 * once, and who is answered sends its next request at once, which is read in one piece with all others that came.
 *
 * Owns the order of the answers to calls, and the part of the event loop's time that writing them may have.
 * AN1  In one round of the event loop answers are written for `ANSWERS_ROUND_MS`, and one answer beyond that.
 * AN2  An answer that finds time left is written at once. The rest waits, in the order of what each source's answers
 *      have cost in time (FQ1 and FQ2 of fair-queue.ts).
 * AN3  Every answer that waits is written, whatever became of its request and its source, and of the server's stop.
 */
import { ANSWERS_ROUND_MS } from "../limits.ts";
import { createFairQueue, flowOf } from "./fair-queue.ts";
import { createRoundEnd } from "./round-end.ts";

export interface AnswerTurns {
  /**
   * Calls `write`, which answers a request of a source, at once or in its turn; null: of nobody that is known. It is
   * called once, also when nobody is there any more to be answered, and may not throw.
   */
  write(sourceId: string | null, write: () => void): void;
}

/** `monotonicMs`: ms, never going back. */
export function createAnswerTurns(monotonicMs: () => number): AnswerTurns {
  return new RoundedAnswerTurns(monotonicMs);
}

class RoundedAnswerTurns implements AnswerTurns {
  readonly #monotonicMs: () => number;
  /** How many may wait is for those to say who let requests in. */
  readonly #queue = createFairQueue<() => void>();
  readonly #waitForEnd = createRoundEnd(() => this.#nextRound());
  /** Time that answers have had in this round of the event loop. */
  #spentMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  write(sourceId: string | null, write: () => void): void {
    const flow = flowOf(sourceId);
    // While any wait, the round has no time left.
    if (this.#spentMs < ANSWERS_ROUND_MS) {
      this.#queue.chargeWithoutWaiting(flow, this.#timed(write));
    } else {
      this.#queue.add(flow, write);
    }
    this.#waitForEnd();
  }

  #timed(write: () => void): number {
    const startMs = this.#monotonicMs();
    write();
    const costMs = this.#monotonicMs() - startMs;
    this.#spentMs += costMs;
    return costMs;
  }

  /** At the end of each round the next round's time begins (AN1). */
  #nextRound(): void {
    this.#spentMs = 0;
    while (this.#spentMs < ANSWERS_ROUND_MS) {
      const next = this.#queue.take();
      if (next === undefined) break;
      this.#queue.charge(next.flow, this.#timed(next.work));
    }
    if (this.#spentMs > 0) this.#waitForEnd();
  }
}
