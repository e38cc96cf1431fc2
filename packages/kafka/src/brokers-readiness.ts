/**
 * Whether the brokers can be worked with, for `/readyz`: one answer of the liveness watch is a moment's, and an election or a
 * reconnect is no reason to take a process out of service.
 *
 * Owns: the ticks since a broker was last seen to answer. Ticks, not time: a process that was blocked itself saw nothing.
 */

/** What `/readyz` is told. */
export type BrokersState = true | "no broker answers";

/** At the watch's two ticks a second, three seconds: an answer may be missed, a failover of the brokers that are left is not felt. */
const PATIENCE_TICKS = 6;

export class BrokersReadiness {
  readonly #answering: () => readonly string[];
  /** Nothing was seen yet, so at the start nothing is trusted. */
  #silentTicks = PATIENCE_TICKS;

  /** `answering` names the brokers that answer at the moment. */
  constructor(answering: () => readonly string[]) {
    this.#answering = answering;
  }

  /** To be called at each tick of the watch. */
  tick(): void {
    if (this.#answering().length > 0) this.#silentTicks = 0;
    else this.#silentTicks += 1;
  }

  /** True at once when a broker answers, false when none did for `PATIENCE_TICKS`. */
  get state(): BrokersState {
    return this.#answering().length > 0 || this.#silentTicks < PATIENCE_TICKS || "no broker answers";
  }
}
