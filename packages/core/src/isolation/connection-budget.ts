/**
 * The room that all destinations of a process share: as many requests as its sender has connections for, so that those
 * which hang from the first, however many they are, never hold all of them.
 *
 * Owns: two counts, of the requests that are out and of those among them that nothing came back for yet: *unconfirmed*,
 * which each destination's room keeps. Performs nothing.
 * H1  While few unconfirmed requests are out nobody is held back: a cold start is as quick as the receivers are.
 * H2  Beyond that a destination that is not known to be healthy gets one delivery at once.
 * H3  One that nothing is known of gets it while an eighth of all is left to the healthy, one that hung while half is:
 *     so those that hang give way to those that may be well.
 * H4  A healthy one is never refused its first, and has at most half of what is left for more: those that are healthy
 *     and begin to hang leave something to the others.
 */

/**
 * What is known of a destination. `healthy`: answers come back from it. `unknown`: nothing came back yet, and nothing
 * was missed. `suspect`: requests hang there, or what came of it last was a timeout or a plea for less.
 */
export type HealthState = "healthy" | "unknown" | "suspect";

/** Shares of all connections. */
const FEW_UNCONFIRMED = 1 / 8;
const MOST_UNKNOWN = 7 / 8;
const MOST_SUSPECT = 1 / 2;
const MOST_OF_WHAT_IS_LEFT = 1 / 2;
const BUSY = 1 / 4;

export class ConnectionBudget {
  readonly #connections: number;
  #out = 0;
  #unconfirmed = 0;

  /** `connections`: what the sender has at the most. */
  constructor(connections: number) {
    this.#connections = connections;
  }

  /** Requests that are out. */
  get out(): number {
    return this.#out;
  }

  /** Requests out to destinations that are not known to be healthy. */
  get unconfirmed(): number {
    return this.#unconfirmed;
  }

  /** So much is out that it matters who hangs. */
  get isBusy(): boolean {
    return this.#out >= this.#connections * BUSY;
  }

  /** Whether a destination that has `inFlight` requests out may have a delivery of so many more. */
  allows(requests: number, inFlight: number, state: HealthState): boolean {
    if (state === "healthy") return inFlight === 0 || inFlight + requests <= this.most(state);
    const unconfirmed = this.#unconfirmed + requests;
    if (this.#unconfirmed === 0 || unconfirmed <= this.#connections * FEW_UNCONFIRMED) return true;
    if (inFlight > 0) return false;
    return unconfirmed <= this.#connections * (state === "unknown" ? MOST_UNKNOWN : MOST_SUSPECT);
  }

  /** Requests that a destination may count on to have out at once while things are as they are. */
  most(state: HealthState): number {
    if (state === "healthy") return Math.max(1, (this.#connections - this.#out) * MOST_OF_WHAT_IS_LEFT);
    return this.#unconfirmed < this.#connections * FEW_UNCONFIRMED ? Number.POSITIVE_INFINITY : 1;
  }

  /** A destination's counts changed by so much. */
  changed(out: number, unconfirmed: number): void {
    this.#out += out;
    this.#unconfirmed += unconfirmed;
  }
}
