/** A runtime whose time stands still until a test moves it; requests are real. */
import type { Environment } from "../../src/environment.ts";

export interface FakeEnvironment extends Environment {
  /** Time passes: timers that come due are called, in the order of their moments. */
  readonly advance: (ms: number) => void;
  /** How far off the timers are that wait, soonest first. */
  readonly pendingDelaysMs: () => readonly number[];
  /** How many holds on the process were not released. */
  readonly holds: () => number;
  readonly warnings: readonly string[];
}

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Starts at `now`; `random` is always 0.5, and message ids begin with `ph-test-`. */
export function createFakeEnvironment(now = "2026-11-21T03:04:05.678Z"): FakeEnvironment {
  let nowMs = Date.parse(now);
  let holds = 0;
  const timers = new Set<Timer>();
  const warnings: string[] = [];
  const inOrder = () => [...timers].sort((a, b) => a.dueMs - b.dueMs);
  return {
    fetch: globalThis.fetch,
    nowMs: () => nowMs,
    random: () => 0.5,
    uniqueId: () => "test",
    schedule: (delayMs, callback) => {
      const timer = { dueMs: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    holdProcess: () => {
      holds += 1;
      return () => {
        holds -= 1;
      };
    },
    warn: (line) => warnings.push(line),
    debug: undefined,
    advance: (ms) => {
      nowMs += ms;
      for (const timer of inOrder()) {
        if (timer.dueMs > nowMs || !timers.delete(timer)) continue;
        timer.callback();
      }
    },
    pendingDelaysMs: () => inOrder().map((timer) => timer.dueMs - nowMs),
    holds: () => holds,
    warnings,
  };
}
