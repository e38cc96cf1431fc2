/**
 * Whether this process can work with the brokers, for `/readyz` and the log. A single missed answer, an election or a
 * reconnect is no reason to take a process out of service, so a broker's answer counts for some ticks of the watch.
 *
 * Owns: the number of ticks in a row at which no broker answered. It counts ticks and not time: a process whose event
 * loop was blocked missed ticks, and cannot blame the brokers for that time.
 */

/**
 * The state for `/readyz`: true, or a sentence: that no broker answers, or the advice where a broker refuses this
 * process.
 */
export type BrokersState = true | string;

/** The log line for an operator who may have named wrong brokers. */
export const BROKERS_UNREACHABLE = "no broker of KAFKA_BROKERS answers: trying on";

/** Three seconds at two ticks a second: long enough for a missed answer or a failover, which must not show. */
const PATIENCE_TICKS = 6;

export interface BrokersReadinessOptions {
  /** Names of the brokers that answer now. */
  readonly answering: () => readonly string[];
  /** Brokers that refuse this process, by name, each with advice. */
  readonly refusals: () => ReadonlyMap<string, string>;
  /** Called once each time that no broker has answered for `PATIENCE_TICKS` ticks in a row, the start included. */
  readonly onUnreachable: () => void;
}

export class BrokersReadiness {
  readonly #options: BrokersReadinessOptions;
  /** Whether a broker has answered since the start. Until then the process is not ready, however few ticks passed. */
  #hasAnswered = false;
  #unansweredTicks = 0;

  constructor(options: BrokersReadinessOptions) {
    this.#options = options;
  }

  /** The owner of the watch calls this at each of its ticks. */
  tick(): void {
    if (this.#isAnswered()) {
      this.#hasAnswered = true;
      this.#unansweredTicks = 0;
      return;
    }
    this.#unansweredTicks += 1;
    if (this.#unansweredTicks === PATIENCE_TICKS) this.#options.onUnreachable();
  }

  /**
   * True while a broker answers, and for `PATIENCE_TICKS` ticks after the last one did. Otherwise, and before a broker
   * first answered, a sentence that says why not.
   */
  get state(): BrokersState {
    const isTrusted = this.#hasAnswered && this.#unansweredTicks < PATIENCE_TICKS;
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
