import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FillTicks } from "./fill-ticks.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Two partitions, at rest unless a test says otherwise, and the arguments of each look. */
function createTicks() {
  const looks: boolean[] = [];
  const partitions = [{ isAtRest: true }, { isAtRest: true }];
  let askedAtMs = performance.now();
  /** Busy where it was asked at most a tenth of a second ago: so it is told since when. */
  const isBusy = () => {
    const sinceMs = performance.now() - askedAtMs;
    askedAtMs = performance.now();
    return sinceMs <= 100;
  };
  const ticks = new FillTicks({
    workingSet: { records: 8, leastShare: 1, isHeldUp: () => false, isBusy },
    owned: () =>
      partitions.map((each, index) => ({
        ...each,
        lookAtFill: (busy: boolean) => {
          if (index === 0) looks.push(busy);
        },
      })),
  });
  const [, second = { isAtRest: true }] = partitions;
  return { ticks, looks, second };
}

describe("the ticks of the windows' fill", () => {
  it("go on while a partition is not at rest, and end with the first look at which all are (FT1)", async () => {
    const { ticks, looks, second } = createTicks();
    second.isAtRest = false;
    ticks.start();
    await vi.advanceTimersByTimeAsync(1000);
    expect(looks.length).toBe(10);
    second.isAtRest = true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(looks.length).toBe(11);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("begin again when they are woken, and ask only about the time since then (FT2)", async () => {
    const { ticks, looks } = createTicks();
    ticks.start();
    await vi.advanceTimersByTimeAsync(5000);
    expect(looks).toEqual([true]);
    ticks.wake();
    await vi.advanceTimersByTimeAsync(50);
    ticks.wake();
    await vi.advanceTimersByTimeAsync(5000);
    expect(looks).toEqual([true, true]);
  });

  it("are not woken before they start, nor after they were stopped", async () => {
    const { ticks, looks } = createTicks();
    ticks.wake();
    await vi.advanceTimersByTimeAsync(1000);
    ticks.start();
    ticks.stop();
    ticks.wake();
    await vi.advanceTimersByTimeAsync(1000);
    expect(looks).toEqual([]);
  });
});
