/**
 * A moment by two clocks: the monotonic clock may stand still while the machine sleeps, and somebody may set the other
 * one.
 */
import type { Clock } from "@posthaste/core/time";

export interface Moment {
  readonly monotonicMs: number;
  /** Ms since the epoch. */
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

/** How long ago the moment was, in ms, by the clock that says longer. */
export function ageMsOf({ monotonicMs, wallMs }: Moment, clock: Clock): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.nowMs() - wallMs);
}
