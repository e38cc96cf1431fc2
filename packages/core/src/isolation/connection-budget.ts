/**
 * The connections of a process, which all of its destinations share: as many requests as its sender has connections
 * for, divided so that destinations which hang from the first, however many they are, never hold all of them.
 *
 * Owns: two counts, of the requests that are out, and of the *unconfirmed* ones among them, those to URLs that are not
 * healthy. Each URL's health tells it the changes of its own. Performs nothing.
 * CB1  While few unconfirmed requests are out nobody is held back: a cold start is as quick as the receivers are.
 * CB2  Beyond that a URL that is not healthy gets one request at once.
 * CB3  An `unknown` URL gets that request while an eighth of the connections is left to the healthy ones, a `suspect`
 *      URL while half of them is: so those that hang give way to those that may be well.
 * CB4  A healthy URL is never refused its first request, and gets at most half of what is left for more: healthy URLs
 *      that begin to hang leave something to the others.
 */

/**
 * What is known of a URL. `unknown`: nothing came back yet, and no answer is missing. `healthy`: answers come back from
 * it. `suspect`: its last request timed out or was answered 429, or nothing comes back from the requests that are out.
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

  /** `connections`: as many as the sender opens at the most. */
  constructor(connections: number) {
    this.#connections = connections;
  }

  /** Requests that are out. */
  get out(): number {
    return this.#out;
  }

  /** Requests that are out to URLs that are not healthy. */
  get unconfirmed(): number {
    return this.#unconfirmed;
  }

  /** So many requests are out that it matters which of them hang. */
  get isBusy(): boolean {
    return this.#out >= this.#connections * BUSY;
  }

  /** Whether a URL that has `inFlight` requests out may have so many more. */
  allows(requests: number, inFlight: number, state: HealthState): boolean {
    if (state === "healthy") return inFlight === 0 || inFlight + requests <= this.most(state);
    const unconfirmed = this.#unconfirmed + requests;
    if (this.#unconfirmed === 0 || unconfirmed <= this.#connections * FEW_UNCONFIRMED) return true;
    if (inFlight > 0) return false;
    return unconfirmed <= this.#connections * (state === "unknown" ? MOST_UNKNOWN : MOST_SUSPECT);
  }

  /** Requests that a URL may count on to have out at once while the load stays as it is. */
  most(state: HealthState): number {
    if (state === "healthy") return Math.max(1, (this.#connections - this.#out) * MOST_OF_WHAT_IS_LEFT);
    return this.#unconfirmed < this.#connections * FEW_UNCONFIRMED ? Number.POSITIVE_INFINITY : 1;
  }

  /** A URL's counts changed by so much. */
  changed(out: number, unconfirmed: number): void {
    this.#out += out;
    this.#unconfirmed += unconfirmed;
  }
}
