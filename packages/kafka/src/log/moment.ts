/**
 * A moment by both clocks: the one that does not step may stand still while the machine sleeps, and the other may step.
 */
import type { Clock } from "@posthaste/core/time";

export interface Moment {
  readonly monotonicMs: number;
  /** Since the epoch. */
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

/** How long ago it was, in ms, by the clock that says longer. */
export function ageMsOf({ monotonicMs, wallMs }: Moment, clock: Clock): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.nowMs() - wallMs);
}
