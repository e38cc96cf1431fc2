import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RetryDelay } from "./retry-delay.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createGate(delayMs: number) {
  const onDue = vi.fn();
  // Fake timers move both readings; the wall clock can be set besides.
  let setMs = 0;
  const clock = { nowMs: () => performance.now() + setMs, monotonicMs: () => performance.now() };
  const step = (ms: number) => {
    setMs += ms;
  };
  return { gate: new RetryDelay(delayMs, clock, onDue), onDue, step };
}

const at = (offset: number, timestampMs: number, headers = {}) => ({ offset, timestampMs, headers });

describe("the delay of a retry partition", () => {
  it("holds a head until it is due, then asks for another look, once", async () => {
    const { gate, onDue } = createGate(1000);
    gate.noteEnd(10);
    const appendedAtMs = performance.now();
    const waitMs = gate.msUntilDue(at(4, appendedAtMs));
    expect(waitMs).toBe(1000);
    gate.hold({ offset: 4, appendedAtMs }, waitMs);
    expect(gate.head).toEqual({ offset: 4, appendedAtMs });
    await vi.advanceTimersByTimeAsync(999);
    expect(onDue).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onDue).toHaveBeenCalledOnce();
    expect(gate.head).toBeNull();
    expect(gate.msUntilDue(at(4, appendedAtMs))).toBe(0);
  });

  it("releases heads that come due soon after one another together", async () => {
    const { gate, onDue } = createGate(10_000);
    gate.hold({ offset: 0, appendedAtMs: 0 }, 30);
    await vi.advanceTimersByTimeAsync(199);
    expect(onDue).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onDue).toHaveBeenCalledOnce();
  });

  it("releases by a tenth of a short delay", async () => {
    const { gate, onDue } = createGate(1000);
    gate.hold({ offset: 0, appendedAtMs: 0 }, 30);
    await vi.advanceTimersByTimeAsync(99);
    expect(onDue).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onDue).toHaveBeenCalledOnce();
  });

  it("HD2: has one timer, that of the head which it holds now", async () => {
    const { gate, onDue } = createGate(1000);
    gate.hold({ offset: 0, appendedAtMs: 0 }, 500);
    gate.hold({ offset: 1, appendedAtMs: 0 }, 2000);
    await vi.advanceTimersByTimeAsync(1999);
    expect([gate.head?.offset, onDue.mock.calls.length]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(onDue).toHaveBeenCalledOnce();
  });

  it("remembers when an offset was first known, to a 64th of a long delay; an unknown one is new now", async () => {
    const { gate } = createGate(3_600_000);
    const ofAClockAhead = (offset: number) => gate.msUntilDue(at(offset, performance.now() + 9_999_999));
    await vi.advanceTimersByTimeAsync(10);
    expect(ofAClockAhead(0)).toBe(3_600_000);
    gate.noteEnd(10);
    await vi.advanceTimersByTimeAsync(1000);
    gate.noteEnd(20);
    expect(ofAClockAhead(5)).toBe(3_600_000);
    await vi.advanceTimersByTimeAsync(60_000);
    gate.noteEnd(30);
    expect([5, 15, 25].map(ofAClockAhead)).toEqual([3_540_000, 3_540_000, 3_600_000]);
  });

  it("looks again in the meantime at a head that is due in hours", async () => {
    const { gate, onDue } = createGate(3_600_000);
    gate.hold({ offset: 0, appendedAtMs: 0 }, 3_600_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(onDue).toHaveBeenCalledOnce();
  });

  it("waits no longer than the delay after the end offset was seen, though the clock went back (W1)", async () => {
    const { gate, step } = createGate(1000);
    const appendedAtMs = performance.now();
    gate.noteEnd(100);
    step(-3_600_000);
    expect(gate.msUntilDue(at(0, appendedAtMs))).toBe(1000);
    await vi.advanceTimersByTimeAsync(1000);
    for (const offset of [0, 50, 99]) expect(gate.msUntilDue(at(offset, appendedAtMs))).toBe(0);
  });

  it("lets a record go that fell due before it was seen (W1)", () => {
    const { gate } = createGate(1000);
    gate.noteEnd(10);
    expect(gate.msUntilDue(at(0, performance.now() - 1500))).toBe(-500);
  });

  it("goes by the moment of the republished record where the broker's clock is behind (W1)", async () => {
    const { gate } = createGate(1000);
    gate.noteEnd(10);
    const record = at(0, performance.now() - 3_600_000, { "republished-at-ms": String(performance.now()) });
    expect(gate.msUntilDue(record)).toBe(1000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(gate.msUntilDue(record)).toBe(0);
  });

  it("says nothing any more when it is closed", async () => {
    const { gate, onDue } = createGate(1000);
    gate.hold({ offset: 0, appendedAtMs: 0 }, 500);
    gate.close();
    await vi.advanceTimersByTimeAsync(5000);
    expect(onDue).not.toHaveBeenCalled();
    expect(gate.head).toBeNull();
  });
});
