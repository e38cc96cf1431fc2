/**
 * The circuit breaker of one URL: after many failures in a row the URL is not called, but for single probes.
 *
 * States: *closed* (requests go freely), *open* (no request goes before `nextProbeMs`), *half open* (one probe is out).
 * BR1  closed -> open at `threshold` failures without a success between them.
 * BR2  open -> half open when the breaker lets a request through as a probe, after `nextProbeMs`; while the probe is
 *      out it lets no other through.
 * BR3  open, half open -> closed when any request succeeds, also one that the breaker did not let through. half open ->
 *      open when the probe fails, for twice as long as before, up to `longestOpenMs`.
 * BR4  While the breaker is not closed, the failure of a request that is not the probe changes nothing.
 */

export const BREAKER_STATES = ["closed", "open", "half_open"] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

export interface BreakerSettings {
  readonly threshold: number;
  readonly firstOpenMs: number;
  readonly longestOpenMs: number;
  /** Called at each change of a breaker's state, for a metric. */
  readonly onChange?: (state: BreakerState) => void;
}

/** Twenty failures in a row are no accident; a receiver that restarts is called again after a second. */
export const DEFAULT_BREAKER: BreakerSettings = { threshold: 20, firstOpenMs: 1000, longestOpenMs: 30_000 };

export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  #state: BreakerState = "closed";
  #failures = 0;
  #openMs: number;
  #openUntilMs = 0;
  #openedMs = 0;

  constructor(settings: BreakerSettings = DEFAULT_BREAKER) {
    this.#settings = settings;
    this.#openMs = settings.firstOpenMs;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** When it left `closed`, on the clock of its callers; null while it is closed. */
  get openedMs(): number | null {
    return this.#state === "closed" ? null : this.#openedMs;
  }

  /** The moment from which a probe may go; null while it is closed. */
  get nextProbeMs(): number | null {
    return this.#state === "closed" ? null : this.#openUntilMs;
  }

  /** How many failures in a row open it; Infinity while it is not closed. */
  get failuresLeft(): number {
    return this.#state === "closed" ? this.#settings.threshold - this.#failures : Number.POSITIVE_INFINITY;
  }

  /** Whether a request could go now, as a probe or freely. */
  canAdmit(nowMs: number): boolean {
    return this.#state === "closed" || (this.#state === "open" && nowMs >= this.#openUntilMs);
  }

  /** Lets a request through or refuses it. The outcome of a `probe` must be reported; no second probe goes before. */
  admit(nowMs: number): "pass" | "probe" | "refuse" {
    if (this.#state === "closed") return "pass";
    if (!this.canAdmit(nowMs)) return "refuse";
    this.#become("half_open");
    return "probe";
  }

  /** The probe is not sent: the next request may be the probe. */
  cancelProbe(): void {
    if (this.#state === "half_open") this.#state = "open";
  }

  /** A request succeeded. */
  succeeded(): void {
    if (this.#state !== "closed") this.#become("closed");
    this.#failures = 0;
    this.#openMs = this.#settings.firstOpenMs;
  }

  /** A request failed. */
  failed(nowMs: number, wasProbe: boolean): void {
    if (this.#state === "closed") {
      this.#failures += 1;
      if (this.#failures >= this.#settings.threshold) this.#open(nowMs);
    } else if (this.#state === "half_open" && wasProbe) {
      this.#openMs = Math.min(this.#openMs * 2, this.#settings.longestOpenMs);
      this.#open(nowMs);
    }
  }

  #open(nowMs: number): void {
    if (this.#state === "closed") this.#openedMs = nowMs;
    this.#become("open");
    this.#openUntilMs = nowMs + this.#openMs;
  }

  #become(state: BreakerState): void {
    this.#state = state;
    this.#settings.onChange?.(state);
  }
}
