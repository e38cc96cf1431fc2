/**
 * The process's own clocks, read at each call; whatever judges time takes a `Clock`, and this one where none is given.
 */
import type { Clock } from "@posthaste/core/time";

export const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
