/**
 * Whether the brokers can be worked with, for `/readyz` and the log: one answer of the liveness watch is a moment's,
 * and an election or a reconnect is no reason to take a process out of service.
 *
 * Owns: the ticks since a broker was last seen to answer. Ticks, not time: a process that was blocked itself saw
 * nothing.
 */

/** What `/readyz` is told: true, that no broker answers, or what to change where a broker refuses this process. */
export type BrokersState = true | string;

/** For the log: a person who named other brokers than there are reads what to change. */
export const BROKERS_UNREACHABLE = "no broker of KAFKA_BROKERS answers: trying on";

/**
 * At the watch's two ticks a second, three seconds: an answer may be missed, a failover of the brokers that are left is
 * not felt.
 */
const PATIENCE_TICKS = 6;

export interface BrokersReadinessOptions {
  /** Names the brokers that answer at the moment. */
  readonly answering: () => readonly string[];
  /** Brokers that refuse this process, each with what to change. */
  readonly refusals: () => ReadonlyMap<string, string>;
  /** No broker answered for `PATIENCE_TICKS`, from the start on or since one last did. */
  readonly onUnreachable: () => void;
}

export class BrokersReadiness {
  readonly #options: BrokersReadinessOptions;
  /** Until one is seen, nothing is trusted. */
  #seen = false;
  #unansweredTicks = 0;

  constructor(options: BrokersReadinessOptions) {
    this.#options = options;
  }

  /** To be called at each tick of the watch. */
  tick(): void {
    if (this.#isAnswered()) {
      this.#seen = true;
      this.#unansweredTicks = 0;
      return;
    }
    this.#unansweredTicks += 1;
    if (this.#unansweredTicks === PATIENCE_TICKS) this.#options.onUnreachable();
  }

  /** True at once when a broker answers, false when none did for `PATIENCE_TICKS`. */
  get state(): BrokersState {
    const isTrusted = this.#seen && this.#unansweredTicks < PATIENCE_TICKS;
    return this.#isAnswered() || isTrusted || this.#whyNot();
  }

  #whyNot(): string {
    const [refusal] = this.#options.refusals();
    return refusal === undefined ? "no broker answers" : `${refusal[0]}: ${refusal[1]}`;
  }

  #isAnswered(): boolean {
    return this.#options.answering().length > 0;
  }
}
