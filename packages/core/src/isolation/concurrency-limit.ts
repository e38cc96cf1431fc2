/**
 * How many requests a URL may have out at once: raised while the receiver keeps up, halved at congestion (a timeout or
 * a 429).
 *
 * Modes: *doubling* until the first congestion, *linear* from then on; `reset` leads back to doubling.
 * CL1  The limit stays between `least` and `most`, whatever happens.
 * CL2  While doubling, each success raises the limit by one, so that it doubles in the time of one request; while
 *      linear, the limit rises by one in that time.
 * CL3  It rises only while at least half of it is used: unused capacity shows nothing of the receiver.
 * CL4  Each congestion halves it once: a request that began before the last halving and meets congestion meets the same
 *      one.
 * CL5  A receiver that can answer within `QUICK_HOLD_MS` gets `enough` at the most: so many at once are more than a
 *      process can send, and more would only wait in sockets. A limit that rose above it before the receiver was known
 *      to be quick falls again, by one with each success. Measured on two cores: 23 thousand deliveries a second and 47
 *      µs of CPU each with 512 at once, 28 thousand and 39 µs with 64.
 */

export interface LimitSettings {
  readonly first: number;
  readonly least: number;
  /** The most that a quick receiver gets (CL5). */
  readonly enough: number;
  readonly most: number;
}

const QUICK_HOLD_MS = 20;

/**
 * `first` is small, since a destination that hangs from the start holds that many connections before anything is known
 * of it. Rule CB1 of connection-budget.ts bounds all such destinations together.
 */
export const DEFAULT_LIMIT: LimitSettings = { first: 8, least: 1, enough: 64, most: 512 };

export class ConcurrencyLimit {
  readonly #settings: LimitSettings;
  #value: number;
  #congestedOnce = false;
  #halvedAtMs = Number.NEGATIVE_INFINITY;

  /** `startAt`: the first limit of a URL of which something is known. */
  constructor(settings: LimitSettings = DEFAULT_LIMIT, startAt: number = settings.first) {
    this.#settings = settings;
    this.#value = Math.min(Math.max(startAt, settings.least), settings.most);
  }

  /** Requests that may be out at once. */
  get value(): number {
    return Math.floor(this.#value);
  }

  /** Whether it was halved within the last `periodMs`. */
  wasHalved(nowMs: number, periodMs: number): boolean {
    return nowMs - this.#halvedAtMs < periodMs;
  }

  /** Ms until so many requests have begun, when each is out for `holdMs`. While doubling, the limit grows meanwhile. */
  waitMs(requests: number, holdMs: number): number {
    const { most } = this.#settings;
    if (this.#congestedOnce || this.#value >= most) return (holdMs * requests) / this.#value;
    // The limit doubles every `holdMs` until it is at `most`; `whileRising` requests have begun by then.
    const whileRising = most - this.#value;
    if (requests <= whileRising) return holdMs * Math.log2(1 + requests / this.#value);
    return holdMs * (Math.log2(most / this.#value) + (requests - whileRising) / most);
  }

  /** A request succeeded while `inFlight` were out, itself included; the quickest of late was out for `leastHoldMs`. */
  succeeded(inFlight: number, leastHoldMs: number): void {
    const { enough } = this.#settings;
    if (leastHoldMs <= QUICK_HOLD_MS && this.#value >= enough) {
      this.#value = Math.max(this.#value - 1, enough);
      return;
    }
    if (inFlight * 2 < this.#value) return;
    const step = this.#congestedOnce ? 1 / this.#value : 1;
    this.#value = Math.min(this.#value + step, this.#settings.most);
  }

  /** A request that began at `startedMs` met congestion. */
  congested(startedMs: number, nowMs: number): void {
    if (startedMs < this.#halvedAtMs) return;
    this.#congestedOnce = true;
    this.#halvedAtMs = nowMs;
    this.#value = Math.max(this.#value / 2, this.#settings.least);
  }

  /** Begins again as for a URL of which nothing is known. */
  reset(): void {
    this.#value = this.#settings.first;
    this.#congestedOnce = false;
    this.#halvedAtMs = Number.NEGATIVE_INFINITY;
  }
}
