/**
 * Decides whether a delivery may wait for a URL that cannot take it now, by the load of its window and by the activity
 * of other destinations (rules AD2 and AD3 of admission.ts).
 */
import type { DeferralCause } from "./permit.ts";
import type { UrlHealth } from "./url-health.ts";

/**
 * The load of the delivery's window, and the activity of other destinations in this process, at the moment of asking.
 */
export interface LoadContext {
  /** Within the last five minutes no delivery of another destination asked this process for admission. */
  readonly isAlone: boolean;
  /** The delivery's window is nearly full. */
  readonly isFilling: boolean;
  /** The window is full, and the destination's deliveries are most of it. */
  readonly isCrowding: boolean;
  /** The window fills while other destinations do get deliveries through. */
  readonly isScarce: boolean;
}

/** Tells a delivery's load context. Admission asks only for a delivery that would not wait shortly. */
export type ContextOf<T> = (request: T) => LoadContext;

/** An expected wait is long from here on in a window that is crowded, where other destinations wait as well. */
const CROWDED_WAIT_MS = 200;

/**
 * Whether a delivery may wait for the URL whatever the load context is: its wait is short, and the URL is not quiet.
 */
export function isShortWait(health: UrlHealth, waitMs: number): boolean {
  return waitMs < CROWDED_WAIT_MS && !health.isQuiet;
}

export interface ExpectedWait {
  /** How long the delivery would wait for the URL or for the rate. */
  readonly waitMs: number;
  /** The smallest retry delay: a longer wait costs the delivery itself more than a deferral does (AD2). */
  readonly longestWaitMs: number;
}

/** Why a delivery must not wait for the URL (AD2, AD3); null when it may. */
export function causeToDefer(
  health: UrlHealth,
  context: LoadContext,
  { waitMs, longestWaitMs }: ExpectedWait,
): DeferralCause | null {
  const cause = stallCause(health, context);
  if (cause !== null || context.isAlone) return cause;
  if (waitMs >= longestWaitMs) return "concurrency_limit";
  return context.isCrowding && waitMs >= CROWDED_WAIT_MS ? "window_full" : null;
}

/**
 * Why a delivery must not wait for a URL from which nothing comes back, since others need its place in the window
 * (AD3); null when it may.
 */
export function stallCause(health: UrlHealth, context: LoadContext): DeferralCause | null {
  if (!context.isFilling) return null;
  if (health.isStalled) return context.isAlone && !context.isCrowding ? null : "concurrency_limit";
  if (context.isAlone) return null;
  return (context.isCrowding || context.isScarce) && health.isQuiet ? "window_full" : null;
}
