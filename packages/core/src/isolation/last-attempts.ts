/**
 * The last attempts of a destination's deliveries (rule I3): they go whatever stands against their URLs, but for the
 * destination's rate and the connection budget (rule AD5 of admission.ts).
 *
 * Owns: the last attempts that wait for the rate, in the order of their coming. They go before every other delivery
 * that waits.
 */
import Denque from "denque";
import type { DestinationRate } from "./destination-rate.ts";
import type { AdmissionRequest, Permit } from "./permit.ts";

export class LastAttempts<T extends AdmissionRequest> {
  readonly #rate: DestinationRate;
  readonly #longestWaitMs: number;
  readonly #queue = new Denque<Permit<T>>();
  #requests = 0;

  /** `longestWaitMs`: the smallest retry delay. */
  constructor(rate: DestinationRate, longestWaitMs: number) {
    this.#rate = rate;
    this.#longestWaitMs = longestWaitMs;
  }

  /** Last attempts that wait. */
  get length(): number {
    return this.#queue.length;
  }

  /** Their requests. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * What becomes of a last attempt that arrives. `full`: it should come again later. A `waits` is answered by `next`.
   */
  arrive(permit: Permit<T>, nowMs: number): "goes" | "waits" | "full" {
    if (!hasReserve(permit)) return "full";
    if (this.#queue.length === 0 && this.#rate.allows(nowMs)) return "goes";
    // Only other last attempts are ahead of it.
    if (this.#rate.waitMs(this.#requests, nowMs) >= this.#longestWaitMs) return "full";
    this.#queue.push(permit);
    this.#requests += permit.lines.length;
    return "waits";
  }

  /** Takes out the last attempt that waited and may go now; null when none may. */
  next(nowMs: number): Permit<T> | null {
    const permit = this.#queue.peekFront();
    if (permit === undefined || !this.#rate.allows(nowMs) || !hasReserve(permit)) return null;
    this.#queue.shift();
    this.#requests -= permit.lines.length;
    return permit;
  }

  /** Takes out all that wait. */
  drain(): readonly Permit<T>[] {
    const all = this.#queue.toArray();
    this.#queue.clear();
    this.#requests = 0;
    return all;
  }
}

function hasReserve<T extends AdmissionRequest>({ lines }: Permit<T>): boolean {
  return lines.every(({ health }) => health.hasReserve());
}
