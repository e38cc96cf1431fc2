/**
 * The retry backlog: how many deliveries of each destination this process republished to retry topics and has not read
 * back (I2).
 *
 * Owns nothing: each active destination has its own count, which is forgotten with it (J2 of `active-destinations.ts`).
 * A delivery that another process republished may return here, so no count falls below 0.
 */
import type { ActiveDestinations } from "./active-destinations.ts";

export class RetryBacklog {
  readonly #destinations: ActiveDestinations;
  readonly #monotonicMs: () => number;

  constructor(destinations: ActiveDestinations, monotonicMs: () => number) {
    this.#destinations = destinations;
    this.#monotonicMs = monotonicMs;
  }

  /** A delivery of the destination is republished to a retry topic. */
  add(destinationId: string): void {
    this.#destinations.use(destinationId, this.#monotonicMs()).retryBacklog += 1;
  }

  /** A delivery of the destination returned from a retry topic. */
  remove(destinationId: string): void {
    const destination = this.#destinations.peek(destinationId);
    if (destination !== undefined && destination.retryBacklog > 0) destination.retryBacklog -= 1;
  }

  sizeOf(destinationId: string): number {
    return this.#destinations.peek(destinationId)?.retryBacklog ?? 0;
  }
}
