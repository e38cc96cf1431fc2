/**
 * Writes answers a little at a time, the sources in turn. The brokers acknowledge the calls of hundreds of requests at
 * once, and a sender that is answered sends its next request at once, which would be read in one piece with all others.
 *
 * Owns: the order of the answers, and the time that writing them has had in this round of the event loop.
 * AN1  In one round of the event loop answers are written for `ANSWERS_ROUND_MS`, and at most one answer beyond that.
 * AN2  An answer that finds time left in the round is written at once. Others wait, in the order of the time that each
 *      source's answers have cost (FQ1 and FQ2 of fair-queue.ts).
 * AN3  Every answer that waits is written, whatever became of its request or its source, and also while the server
 *      stops.
 */
import { ANSWERS_ROUND_MS } from "../limits.ts";
import { createFairQueue, flowOf } from "./fair-queue.ts";
import { createRoundEnd } from "./round-end.ts";

export interface AnswerTurns {
  /**
   * Calls `write`, which answers a request of the source, once, at once or in its turn. `sourceId` is null where no
   * source is known. `write` is called also when its sender has left, and must not throw.
   */
  write(sourceId: string | null, write: () => void): void;
}

/** `monotonicMs`: the monotonic clock, in ms. */
export function createAnswerTurns(monotonicMs: () => number): AnswerTurns {
  return new RoundedAnswerTurns(monotonicMs);
}

class RoundedAnswerTurns implements AnswerTurns {
  readonly #monotonicMs: () => number;
  /** The queue has no bound of its own: the admission of requests bounds the answers. */
  readonly #queue = createFairQueue<() => void>();
  readonly #waitForEnd = createRoundEnd(() => this.#nextRound());
  /** The time that answers have had in this round of the event loop. */
  #spentMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  write(sourceId: string | null, write: () => void): void {
    const flow = flowOf(sourceId);
    // While any answer waits, the round has no time left.
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

  /** Begins the time of the next round, at the end of each (AN1). */
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
