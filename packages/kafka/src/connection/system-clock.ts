/** The process's own clocks, read at each call. Code that judges time takes a `Clock`; this one is the default. */
import type { Clock } from "@posthaste/core/time";

export const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
