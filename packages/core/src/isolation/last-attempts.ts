/**
 * The last attempts of a destination's deliveries (rule I3). They go whatever stands against their URLs, but for the
 * destination's rate and the connection budget (rule AD5 of admission.ts).
 *
 * Owns: the last attempts that wait for the rate, in the order in which they came. They go before every other delivery
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

  /** How many last attempts wait. */
  get length(): number {
    return this.#queue.length;
  }

  /** How many requests the waiting last attempts will make. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * Decides on a last attempt that arrives. `waits`: `next` answers it later. `full`: it should come again later, since
   * the connection budget has no connection for it, or it would wait for the rate longer than the smallest retry delay.
   */
  arrive(permit: Permit<T>, nowMs: number): "goes" | "waits" | "full" {
    if (!canGo(permit)) return "full";
    if (this.#queue.length === 0 && this.#rate.allows(nowMs)) return "goes";
    // Only other last attempts are ahead of it.
    if (this.#rate.waitMs(this.#requests, nowMs) >= this.#longestWaitMs) return "full";
    this.#queue.push(permit);
    this.#requests += permit.lines.length;
    return "waits";
  }

  /** Takes out the first that waits, if it may go now; otherwise null. */
  next(nowMs: number): Permit<T> | null {
    const permit = this.#queue.peekFront();
    if (permit === undefined || !this.#rate.allows(nowMs) || !canGo(permit)) return null;
    this.#queue.shift();
    this.#requests -= permit.lines.length;
    return permit;
  }

  /** Takes out all last attempts that wait. */
  drain(): readonly Permit<T>[] {
    const all = this.#queue.toArray();
    this.#queue.clear();
    this.#requests = 0;
    return all;
  }
}

function canGo<T extends AdmissionRequest>({ lines }: Permit<T>): boolean {
  return lines.every(({ health }) => health.canTakeLast());
}
