import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pause, retryPauseMs, withDeadline } from "./deadline.ts";

describe("waiting with an end", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("answers what came in time and leaves no timer behind", async () => {
    await expect(withDeadline(Promise.resolve(1), 1000, "asking")).resolves.toBe(1);
    await expect(withDeadline(Promise.reject(new Error("no")), 1000, "asking")).rejects.toThrow("no");
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("says what was not answered in time, and that asking again may help", async () => {
    const answer = expect(withDeadline(new Promise(() => {}), 1000, "asking")).rejects.toMatchObject({
      code: "deadline_exceeded",
      retryable: true,
      message: "asking: no answer within 1000 ms",
    });
    await vi.advanceTimersByTimeAsync(1000);
    await answer;
  });

  it("swallows a failure that comes after the deadline", async () => {
    const late = Promise.withResolvers<void>();
    const answer = expect(withDeadline(late.promise, 10, "asking")).rejects.toMatchObject({
      code: "deadline_exceeded",
    });
    await vi.advanceTimersByTimeAsync(10);
    await answer;
    late.reject(new Error("too late"));
    await vi.advanceTimersByTimeAsync(0);
  });

  it("ends a pause when its time is over, or its signal is aborted", async () => {
    const ending = new AbortController();
    const ended: string[] = [];
    void pause(100).then(() => ended.push("time"));
    void pause(1000, ending.signal).then(() => ended.push("signal"));
    await vi.advanceTimersByTimeAsync(100);
    expect(ended).toEqual(["time"]);
    ending.abort();
    await pause(1000, ending.signal);
    expect(ended).toEqual(["time", "signal"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("pauses 100 ms after the first failure, then longer, never more than half a second", () => {
    expect(retryPauseMs(1)).toBe(100);
    const property = fc.property(fc.integer({ min: 1, max: 1_000_000 }), (failures) => {
      expect(retryPauseMs(failures)).toBeGreaterThanOrEqual(100);
      expect(retryPauseMs(failures)).toBeLessThanOrEqual(500);
      expect(retryPauseMs(failures + 1)).toBeGreaterThanOrEqual(retryPauseMs(failures));
    });
    fc.assert(property);
  });
});
