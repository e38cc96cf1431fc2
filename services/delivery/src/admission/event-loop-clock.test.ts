import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventLoopClock } from "./event-loop-clock.ts";

describe("the clock of the event loop", () => {
  let nowMs: number;
  let passed: number[];
  let clock: EventLoopClock;

  beforeEach(() => {
    vi.useFakeTimers();
    nowMs = 1000;
    passed = [];
    clock = new EventLoopClock({ monotonicMs: () => nowMs, onTick: (_, passedMs) => passed.push(passedMs) });
  });
  afterEach(() => {
    clock.close();
    vi.useRealTimers();
  });

  /** One tick, which comes `afterMs` after the one before. */
  function tick(afterMs: number): void {
    nowMs += afterMs;
    vi.advanceTimersByTime(20);
  }

  it("B1: passes on the time since the tick before, and 50 ms of a tick that came late", () => {
    clock.run();
    tick(20);
    tick(300);
    tick(20);
    expect(passed).toEqual([20, 50, 20]);
  });

  it("B2: counts the rest of every late tick as blocked", () => {
    clock.run();
    tick(150);
    tick(20);
    tick(80);
    expect(clock.blockedMs(nowMs)).toBe(100 + 30);
  });

  it("B2: counts what the next tick would find now", () => {
    clock.run();
    tick(150);
    nowMs += 90;
    expect(clock.blockedMs(nowMs)).toBe(100 + 40);
    nowMs += 10.7;
    expect(clock.blockedMs(nowMs)).toBe(100 + 50);
  });

  it("B2: counts no time in which no tick runs as blocked", () => {
    nowMs += 5000;
    expect(clock.blockedMs(nowMs)).toBe(0);
    clock.run();
    tick(150);
    clock.stop();
    nowMs += 5000;
    expect(clock.blockedMs(nowMs)).toBe(100);
    clock.run();
    nowMs += 20;
    expect(clock.blockedMs(nowMs)).toBe(100);
  });

  it("does not tick again after its close, nor twice as often when it is started twice", () => {
    clock.run();
    clock.run();
    tick(20);
    clock.close();
    clock.run();
    tick(20);
    expect(passed).toEqual([20]);
  });
});
