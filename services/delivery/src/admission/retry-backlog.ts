/**
 * The retry backlog: how many deliveries of each destination this process saw go to retry topics and not return (I2).
 *
 * Owns nothing: each count stands with its active destination, and is forgotten with it (J2 of
 * `active-destinations.ts`). A delivery that another process republished counts for nothing when it returns here, so no
 * count falls below 0.
 */
import type { ActiveDestinations } from "./active-destinations.ts";

export class RetryBacklog {
  readonly #destinations: ActiveDestinations;
  readonly #monotonicMs: () => number;

  constructor(destinations: ActiveDestinations, monotonicMs: () => number) {
    this.#destinations = destinations;
    this.#monotonicMs = monotonicMs;
  }

  /** A delivery of the destination goes to a retry topic. */
  add(destinationId: string): void {
    this.#destinations.use(destinationId, this.#monotonicMs()).retryBacklog += 1;
  }

  /** A delivery of the destination returned from a retry topic, whatever becomes of it now. */
  remove(destinationId: string): void {
    const destination = this.#destinations.peek(destinationId);
    if (destination !== undefined && destination.retryBacklog > 0) destination.retryBacklog -= 1;
  }

  sizeOf(destinationId: string): number {
    return this.#destinations.peek(destinationId)?.retryBacklog ?? 0;
  }
}
