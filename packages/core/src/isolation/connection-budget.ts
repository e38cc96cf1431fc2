/**
 * The room that all destinations of a process share: as many requests as its sender has connections for, so that those which
 * hang from the first, however many they are, never hold all of them.
 *
 * Owns: two counts, of the requests that are out and of those among them that nothing came back for yet: *unproven*, which each
 * destination's room keeps. Performs nothing.
 * H1  While few unproven requests are out nobody is held back: a cold start is as quick as the receivers are.
 * H2  Beyond that a destination that has not proven itself gets one delivery at once.
 * H3  One that nothing is known of gets it while an eighth of all is left to the proven, one that hung while half is: so those
 *     that hang give way to those that may be well.
 * H4  A proven one is never refused its first, and has at most half of what is left for more: those that are proven and begin
 *     to hang leave something to the others.
 */

/**
 * What is known of a destination. `proven`: answers come back from it. `unknown`: nothing came back yet, and nothing was missed.
 * `doubtful`: requests hang there, or what came of it last was a timeout or a plea for less.
 */
export type Standing = "proven" | "unknown" | "doubtful";

/** Shares of all connections. */
const FEW_UNPROVEN = 1 / 8;
const MOST_UNKNOWN = 7 / 8;
const MOST_DOUBTFUL = 1 / 2;
const MOST_OF_WHAT_IS_LEFT = 1 / 2;
const BUSY = 1 / 4;

export class ConnectionBudget {
  readonly #connections: number;
  #out = 0;
  #unproven = 0;

  /** `connections`: what the sender has at the most. */
  constructor(connections: number) {
    this.#connections = connections;
  }

  /** Requests that are out. */
  get out(): number {
    return this.#out;
  }

  /** Requests out to destinations that have not proven themselves. */
  get unproven(): number {
    return this.#unproven;
  }

  /** So much is out that it matters who hangs. */
  get isBusy(): boolean {
    return this.#out >= this.#connections * BUSY;
  }

  /** Whether a destination that has `inFlight` requests out may have a delivery of so many more. */
  hasRoom(requests: number, inFlight: number, standing: Standing): boolean {
    if (standing === "proven") return inFlight === 0 || inFlight + requests <= this.most(standing);
    const unproven = this.#unproven + requests;
    if (this.#unproven === 0 || unproven <= this.#connections * FEW_UNPROVEN) return true;
    if (inFlight > 0) return false;
    return unproven <= this.#connections * (standing === "unknown" ? MOST_UNKNOWN : MOST_DOUBTFUL);
  }

  /** Requests that a destination may count on to have out at once while things are as they are. */
  most(standing: Standing): number {
    if (standing === "proven") return Math.max(1, (this.#connections - this.#out) * MOST_OF_WHAT_IS_LEFT);
    return this.#unproven < this.#connections * FEW_UNPROVEN ? Number.POSITIVE_INFINITY : 1;
  }

  /** A destination's counts changed by so much. */
  changed(out: number, unproven: number): void {
    this.#out += out;
    this.#unproven += unproven;
  }
}
