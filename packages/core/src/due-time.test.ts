import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FirstKnown, msUntilDue } from "./due-time.ts";
import type { Clock } from "./time.ts";

const clockAt = (nowMs: number, monotonicMs: number): Clock => ({
  nowMs: () => nowMs,
  monotonicMs: () => monotonicMs,
});

describe("a record of a retry topic", () => {
  it("is due its delay after it was appended", () => {
    const record = { appendedAtMs: 1000, delayMs: 500, firstKnownMs: 20 };
    expect(msUntilDue(record, clockAt(1000, 20))).toBe(500);
    expect(msUntilDue(record, clockAt(1499, 519))).toBe(1);
    expect(msUntilDue(record, clockAt(1500, 520))).toBe(0);
  });

  it("waits no longer than its delay from when it was first known, however a broker's clock was set (W1)", () => {
    const record = { appendedAtMs: 3_600_000, delayMs: 500, firstKnownMs: 20 };
    expect(msUntilDue(record, clockAt(1000, 20))).toBe(500);
    expect(msUntilDue(record, clockAt(1500, 520))).toBe(0);
  });
});

describe("when offsets were first known", () => {
  it("one end offset dates everything below it (F1)", () => {
    const known = new FirstKnown(10);
    known.note(100, 5);
    known.note(1_000_000, 1000);
    expect(known.of(0)).toBe(5);
    expect(known.of(99)).toBe(5);
    expect(known.of(100)).toBe(1000);
    expect(known.of(999_999)).toBe(1000);
    expect(known.of(1_000_000)).toBeUndefined();
  });

  it("is never earlier than it was, and later by less than a grain (F2)", () => {
    const grainMs = 50;
    const step = fc.record({ grow: fc.nat(20), afterMs: fc.nat(40) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const known = new FirstKnown(grainMs);
        const exact: number[] = [];
        let nowMs = 0;
        for (const { grow, afterMs } of steps) {
          nowMs += afterMs;
          for (let n = 0; n < grow; n += 1) exact.push(nowMs);
          known.note(exact.length, nowMs);
        }
        return exact.every((atMs, offset) => {
          const said = known.of(offset);
          return said !== undefined && said >= atMs && said < atMs + grainMs;
        });
      }),
    );
  });
});
