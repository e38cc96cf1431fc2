import type { Clock } from "@posthaste/core/time";
import { createFakeClock } from "@posthaste/testkit/clock";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Timed, TimerWheel } from "./timer-wheel.ts";

const TICK_MS = 50;

class Entry extends Timed {
  firedAtMs: number | null = null;
  readonly #now: () => number;
  readonly #then: () => void;

  constructor(now: () => number, then: () => void = () => {}) {
    super();
    this.#now = now;
    this.#then = then;
  }

  onTimeout(): void {
    this.firedAtMs = this.#now();
    this.#then();
  }
}

describe("TimerWheel", () => {
  let clock = createFakeClock();

  beforeEach(() => {
    clock = createFakeClock();
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Time passes tick by tick, as it does while the event loop is free. */
  function pass(ms: number): void {
    for (let left = ms; left > 0; left -= TICK_MS) {
      clock.advance(Math.min(left, TICK_MS));
      vi.advanceTimersByTime(Math.min(left, TICK_MS));
    }
  }

  it("WH1: fires nothing early, and everything within two ticks", () => {
    // The wheel's clock and its interval are one here: a timer that fires knows the moment at which it does.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    const exact: Clock = { nowMs: () => 0, monotonicMs: () => performance.now() };
    fc.assert(
      fc.property(
        fc.array(fc.record({ startMs: fc.nat(3_000), delayMs: fc.nat(12_000) }), { minLength: 1, maxLength: 30 }),
        (plans) => {
          const wheel = new TimerWheel(exact, 5_000);
          const begun = exact.monotonicMs();
          const entries = [...plans]
            .sort((left, right) => left.startMs - right.startMs)
            .map(({ startMs, delayMs }) => {
              vi.advanceTimersByTime(begun + startMs - exact.monotonicMs());
              const entry = new Entry(exact.monotonicMs);
              const dueMs = exact.monotonicMs() + delayMs;
              wheel.add(entry, delayMs);
              return { entry, dueMs };
            });
          vi.advanceTimersByTime(13_000);
          for (const { entry, dueMs } of entries) {
            expect(entry.firedAtMs).toBeGreaterThanOrEqual(dueMs);
            expect(entry.firedAtMs).toBeLessThanOrEqual(dueMs + 2 * TICK_MS);
          }
          expect(wheel.size).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("WH2: gives up one tick after the event loop was blocked, so that what arrived is read first", () => {
    const wheel = new TimerWheel(clock, 5_000);
    const entry = new Entry(clock.monotonicMs);
    wheel.add(entry, 1_000);
    pass(500);
    clock.advance(2_000);
    vi.advanceTimersByTime(TICK_MS);
    expect(entry.firedAtMs).toBeNull();
    clock.advance(TICK_MS);
    vi.advanceTimersByTime(TICK_MS);
    expect(entry.firedAtMs).not.toBeNull();
  });

  it("WH2: fires what is due after a block longer than the wheel's round, and leaves what is not", () => {
    const wheel = new TimerWheel(clock, 1_000);
    const [due, later] = [new Entry(clock.monotonicMs), new Entry(clock.monotonicMs)];
    wheel.add(due, 500);
    wheel.add(later, 60_000);
    clock.advance(30_000);
    vi.advanceTimersByTime(2 * TICK_MS);
    expect(due.firedAtMs).not.toBeNull();
    expect(later.firedAtMs).toBeNull();
  });

  it("does not fire what was removed, and starts the time again of what is added twice", () => {
    const wheel = new TimerWheel(clock, 5_000);
    const [removed, again] = [new Entry(clock.monotonicMs), new Entry(clock.monotonicMs)];
    wheel.add(removed, 1_000);
    wheel.add(again, 1_000);
    pass(800);
    wheel.remove(removed);
    wheel.add(again, 1_000);
    pass(900);
    expect([removed.firedAtMs, again.firedAtMs]).toEqual([null, null]);
    pass(200);
    expect(again.firedAtMs).not.toBeNull();
    expect(removed.firedAtMs).toBeNull();
  });

  it("lets an entry that fires remove another that is due at the same moment", () => {
    const wheel = new TimerWheel(clock, 5_000);
    const victim = new Entry(clock.monotonicMs);
    const killer = new Entry(clock.monotonicMs, () => wheel.remove(victim));
    wheel.add(killer, 100);
    wheel.add(victim, 100);
    pass(300);
    expect(killer.firedAtMs).not.toBeNull();
    expect(victim.firedAtMs).toBeNull();
  });

  it("runs no timer while nothing waits", () => {
    const wheel = new TimerWheel(clock, 5_000);
    expect(vi.getTimerCount()).toBe(0);
    wheel.add(new Entry(clock.monotonicMs), 100);
    expect(vi.getTimerCount()).toBe(1);
    pass(300);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("lists what waits", () => {
    const wheel = new TimerWheel(clock, 5_000);
    const entries = [new Entry(clock.monotonicMs), new Entry(clock.monotonicMs)];
    for (const entry of entries) wheel.add(entry, 1_000);
    expect(new Set(wheel.waiting())).toEqual(new Set(entries));
  });
});
