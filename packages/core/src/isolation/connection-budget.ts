/**
 * The sender's connections, which all destinations of a process share. The budget divides them so that destinations
 * that hang from the first never hold all of them, however many there are.
 *
 * Owns: two counts, of the requests that are out, and of the *unconfirmed* ones among them, those to URLs that are not
 * healthy. Each URL's health reports the changes of its own requests. The budget performs nothing.
 * CB1  While at most an eighth of the connections has unconfirmed requests, the budget refuses none: a cold start is as
 *      quick as the receivers are.
 * CB2  Beyond that a URL that is not healthy gets one request at once.
 * CB3  An `unknown` URL gets that one while unconfirmed requests have at most seven eighths of the connections, a
 *      `suspect` URL while they have at most half: so URLs that hang give way to URLs that may be well.
 * CB4  The budget never refuses a healthy URL its first request. Beyond the first it may have half as many requests out
 *      as there are free connections: healthy URLs that begin to hang leave some to the others.
 */

/**
 * This process's judgement of a URL. `unknown`: nothing came back yet, and no answer is overdue. `healthy`: requests
 * get an outcome in time, whatever it is. `suspect`: the last request timed out or was answered 429, or nothing comes
 * back from the requests that are out.
 */
export type HealthState = "healthy" | "unknown" | "suspect";

/** Shares of all connections. */
const FEW_UNCONFIRMED = 1 / 8;
const MOST_UNKNOWN = 7 / 8;
const MOST_SUSPECT = 1 / 2;
const BUSY = 1 / 4;
/** A share of the connections that are free. */
const MOST_OF_FREE = 1 / 2;

export class ConnectionBudget {
  readonly #connections: number;
  #out = 0;
  #unconfirmed = 0;

  /** `connections`: the most that the sender opens. */
  constructor(connections: number) {
    this.#connections = connections;
  }

  /** How many requests are out. */
  get out(): number {
    return this.#out;
  }

  /** How many requests are out to URLs that are not healthy. */
  get unconfirmed(): number {
    return this.#unconfirmed;
  }

  /** Whether so many requests are out that it matters which of them hang. */
  get isBusy(): boolean {
    return this.#out >= this.#connections * BUSY;
  }

  /** Whether a URL in this state that has `inFlight` requests out may begin `requests` more. */
  allows(requests: number, inFlight: number, state: HealthState): boolean {
    if (state === "healthy") return inFlight === 0 || inFlight + requests <= this.most(state);
    const unconfirmed = this.#unconfirmed + requests;
    if (this.#unconfirmed === 0 || unconfirmed <= this.#connections * FEW_UNCONFIRMED) return true;
    if (inFlight > 0) return false;
    return unconfirmed <= this.#connections * (state === "unknown" ? MOST_UNKNOWN : MOST_SUSPECT);
  }

  /** The most requests that a URL in this state may have out at once while the load stays as it is. */
  most(state: HealthState): number {
    if (state === "healthy") return Math.max(1, (this.#connections - this.#out) * MOST_OF_FREE);
    return this.#unconfirmed < this.#connections * FEW_UNCONFIRMED ? Number.POSITIVE_INFINITY : 1;
  }

  /** Adds the changes of one URL's counts. */
  changed(out: number, unconfirmed: number): void {
    this.#out += out;
    this.#unconfirmed += unconfirmed;
  }
}
