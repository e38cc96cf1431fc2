/**
 * The breaker of one destination: after many failures in a row it is not called, but for single probes.
 *
 * States: *closed* (called freely), *open* (not called before a moment), *half open* (one call is out to see).
 * K1  closed -> open at `threshold` failures without a success between them.
 * K2  open -> half open when a call is admitted after the moment; while it is out no other is admitted.
 * K3  half open -> closed when any call succeeds; -> open, for twice as long up to `longestOpenMs`, when the probe
 *     fails.
 * K4  Failures of calls that began before it opened change nothing.
 */

export const BREAKER_STATES = ["closed", "open", "half_open"] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

export interface BreakerSettings {
  readonly threshold: number;
  readonly firstOpenMs: number;
  readonly longestOpenMs: number;
}

/** Twenty in a row are no accident; a receiver that restarts is called again after a second. */
export const DEFAULT_BREAKER: BreakerSettings = { threshold: 20, firstOpenMs: 1000, longestOpenMs: 30_000 };

export class CircuitBreaker {
  readonly #settings: BreakerSettings;
  #state: BreakerState = "closed";
  #failures = 0;
  #openMs: number;
  #openUntilMs = 0;

  constructor(settings: BreakerSettings = DEFAULT_BREAKER) {
    this.#settings = settings;
    this.#openMs = settings.firstOpenMs;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Whether a call would be admitted now. */
  canAdmit(nowMs: number): boolean {
    return this.#state === "closed" || (this.#state === "open" && nowMs >= this.#openUntilMs);
  }

  /** Whether a call may go now. A `probe` takes the one place there is: its outcome must be told. */
  admit(nowMs: number): "pass" | "probe" | "refuse" {
    if (this.#state === "closed") return "pass";
    if (!this.canAdmit(nowMs)) return "refuse";
    this.#state = "half_open";
    return "probe";
  }

  /** The probe that was admitted did not take place: the next call may be it. */
  cancelProbe(): void {
    if (this.#state === "half_open") this.#state = "open";
  }

  succeeded(): void {
    this.#state = "closed";
    this.#failures = 0;
    this.#openMs = this.#settings.firstOpenMs;
  }

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
    this.#state = "open";
    this.#openUntilMs = nowMs + this.#openMs;
  }
}
