/**
 * The processor time that the answers of one URL cost this process, and the rest of a URL whose answers are dear.
 *
 * Owns the mean cost of the URL's answers and the end of its rest. All URLs share the usual cost.
 * YC1  A URL is dear while an answer of it costs `DEAR_MS` and `DEAR_TIMES` times the usual cost in the mean.
 * YC2  A dear URL has one request out at once, and rests after each answer for `REST_TIMES` times the answer's cost. So
 *      it gets a tenth of a processor at the most.
 */

const DEAR_MS = 0.5;
const DEAR_TIMES = 16;
const REST_TIMES = 9;
/** Longer than a rest; it bounds the sum of the costs of requests that were out together. */
const LONGEST_REST_MS = 1000;
/** The weight of a new answer in the mean. */
const SAMPLE_WEIGHT = 0.1;

const VOTE_EVERY_MS = 1000;
const STEP_MS = 0.01;

/**
 * The usual cost of an answer: about the cost that a third of the URLs in use stay below. Each of them has a vote a
 * second, whatever its traffic, so that a busy URL alone does not become the usual one.
 */
export class UsualCost {
  #valueMs = 0;

  get valueMs(): number {
    return this.#valueMs;
  }

  vote(meanMs: number): void {
    if (meanMs > this.#valueMs) this.#valueMs += STEP_MS;
    else this.#valueMs = Math.max(0, this.#valueMs - 2 * STEP_MS);
  }
}

export class AnswerCost {
  readonly #usual: UsualCost;
  #meanMs = 0;
  #restsUntilMs = 0;
  #votedMs = Number.NEGATIVE_INFINITY;

  constructor(usual: UsualCost) {
    this.#usual = usual;
  }

  get isDear(): boolean {
    return this.#meanMs >= DEAR_MS && this.#meanMs >= DEAR_TIMES * this.#usual.valueMs;
  }

  /** How long a delivery to a dear URL waits for each delivery ahead of it; 0 for any other URL. */
  get turnMs(): number {
    return this.isDear ? this.#meanMs * (1 + REST_TIMES) : 0;
  }

  isResting(nowMs: number): boolean {
    return nowMs < this.#restsUntilMs;
  }

  /** An answer ended that cost so much. */
  note(costMs: number, nowMs: number): void {
    this.#meanMs += SAMPLE_WEIGHT * (costMs - this.#meanMs);
    if (nowMs - this.#votedMs >= VOTE_EVERY_MS) {
      this.#votedMs = nowMs;
      this.#usual.vote(this.#meanMs);
    }
    if (!this.isDear) return;
    const restMs = Math.max(0, this.#restsUntilMs - nowMs) + REST_TIMES * costMs;
    this.#restsUntilMs = nowMs + Math.min(restMs, LONGEST_REST_MS);
  }
}
