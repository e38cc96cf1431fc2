/**
 * How many requests a destination gets at once: raised while it keeps up, halved when it does not.
 *
 * A1  Between `least` and `most`, whatever happens.
 * A2  Until the first congestion every success raises it by one, which doubles it a round; after that by one a round.
 * A3  It rises only while at least half of it is used: room that nobody needs proves nothing.
 * A4  It is halved once a round: congestion met by a request that began before the last halving is the same congestion.
 * A5  A receiver that can answer within `QUICK_HOLD_MS` gets `enough` at the most: that many at once are more than a
 *     process can send, and more of them only wait in sockets. What rose above it before the receiver was known falls
 *     again. Tried on two cores: 23 thousand deliveries a second and 47 µs of CPU each with 512 at once, 28 thousand
 *     and 39 µs with 64.
 */

export interface LimitSettings {
  readonly first: number;
  readonly least: number;
  /** What a quick receiver gets at the most. */
  readonly enough: number;
  readonly most: number;
}

const QUICK_HOLD_MS = 20;

/**
 * The first is small, since destinations that hang hold so many connections each before anything is known of them; see
 * rule H1 too.
 */
export const DEFAULT_LIMIT: LimitSettings = { first: 8, least: 1, enough: 64, most: 512 };

export class ConcurrencyLimit {
  readonly #settings: LimitSettings;
  #value: number;
  #congestedOnce = false;
  #halvedAtMs = Number.NEGATIVE_INFINITY;

  /** `startAt`: what the limit begins with, where more is known than nothing. */
  constructor(settings: LimitSettings = DEFAULT_LIMIT, startAt: number = settings.first) {
    this.#settings = settings;
    this.#value = Math.min(Math.max(startAt, settings.least), settings.most);
  }

  /** Requests that may be in flight. */
  get value(): number {
    return Math.floor(this.#value);
  }

  /** True when it was halved within the last `periodMs`. */
  wasHalved(nowMs: number, periodMs: number): boolean {
    return nowMs - this.#halvedAtMs < periodMs;
  }

  /**
   * Ms until `requests` have had room, when each holds it for `holdMs`. A limit that doubles is not reached for long.
   */
  waitMs(requests: number, holdMs: number): number {
    const { most } = this.#settings;
    if (this.#congestedOnce || this.#value >= most) return (holdMs * requests) / this.#value;
    // It doubles a round until it is at the most; by then so many have had room.
    const whileRising = most - this.#value;
    if (requests <= whileRising) return holdMs * Math.log2(1 + requests / this.#value);
    return holdMs * (Math.log2(most / this.#value) + (requests - whileRising) / most);
  }

  /** A request succeeded while `inFlight`, itself included, were out; the quickest of late took `leastHoldMs`. */
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

  /** Starts again as with a destination that nothing is known of. */
  reset(): void {
    this.#value = this.#settings.first;
    this.#congestedOnce = false;
    this.#halvedAtMs = Number.NEGATIVE_INFINITY;
  }
}
