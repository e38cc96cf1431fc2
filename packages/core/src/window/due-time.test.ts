import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock } from "../time.ts";
import { FirstKnown, msUntilDue } from "./due-time.ts";

const clockAt = (nowMs: number, monotonicMs: number): Clock => ({
  nowMs: () => nowMs,
  monotonicMs: () => monotonicMs,
});

const WRITTEN = { appendedAtMs: 1000, republishedAtMs: 1000, delayMs: 500, firstKnownMs: 20 };

describe("a record of a retry topic", () => {
  it("is due its delay after it was appended, though it was first known later (W1)", () => {
    const record = { ...WRITTEN, republishedAtMs: null, firstKnownMs: 420 };
    expect(msUntilDue(record, clockAt(1400, 420))).toBe(100);
    expect(msUntilDue(record, clockAt(1499, 519))).toBe(1);
    expect(msUntilDue(record, clockAt(1500, 520))).toBe(0);
  });

  it("waits no longer than its delay from when it was first known, however a clock was set (W1)", () => {
    for (const ahead of [{ appendedAtMs: 3_600_000 }, { republishedAtMs: 3_600_000 }]) {
      const record = { ...WRITTEN, ...ahead };
      expect(msUntilDue(record, clockAt(1000, 20))).toBe(500);
      expect(msUntilDue(record, clockAt(1500, 520))).toBe(0);
    }
  });

  it("waits out its delay from the republished record, though the broker's clock is behind (W1)", () => {
    const record = { ...WRITTEN, appendedAtMs: 1000 - 3_600_000 };
    expect(msUntilDue(record, clockAt(1499, 519))).toBe(1);
    expect(msUntilDue(record, clockAt(1500, 520))).toBe(0);
    // One that does not say when it was republished is due by the broker's word.
    expect(msUntilDue({ ...record, republishedAtMs: null }, clockAt(1000, 20))).toBeLessThan(0);
  });

  /** True moments, in ms from the republished record, and how far each clock is from the true time. */
  const course = fc.record({
    delayMs: fc.nat(10_000),
    appendLatencyMs: fc.nat(2000),
    firstKnownAfterMs: fc.nat(20_000),
    brokerOffMs: fc.integer({ min: -100_000, max: 100_000 }),
    writerOffMs: fc.integer({ min: -100_000, max: 100_000 }),
    readerOffMs: fc.integer({ min: -100_000, max: 100_000 }),
    bootedAtMs: fc.integer({ min: -1_000_000, max: 0 }),
  });
  type Course = typeof course extends fc.Arbitrary<infer T> ? T : never;

  /**
   * When the record is found due, in true ms from the republished record; the reader's wall clock is set `stepMs`
   * further on the way.
   */
  function dueAtMs({ delayMs, appendLatencyMs, ...at }: Course, stepMs = 0): number {
    const record = {
      delayMs,
      appendedAtMs: appendLatencyMs + at.brokerOffMs,
      republishedAtMs: at.writerOffMs,
      firstKnownMs: knownAtMs({ delayMs, appendLatencyMs, ...at }) - at.bootedAtMs,
    };
    const readAt = (trueMs: number, offMs: number) =>
      msUntilDue(record, clockAt(trueMs + offMs, trueMs - at.bootedAtMs));
    const knownMs = record.firstKnownMs + at.bootedAtMs;
    const first = readAt(knownMs, at.readerOffMs);
    if (first <= 0) return knownMs;
    const halfway = knownMs + first / 2;
    const rest = readAt(halfway, at.readerOffMs + stepMs);
    return rest <= 0 ? halfway : halfway + rest;
  }
  /** It is known when it stands in the topic, or later. */
  const knownAtMs = ({ appendLatencyMs, firstKnownAfterMs }: Course) => appendLatencyMs + firstKnownAfterMs;

  it("is never late by any clock: its delay after it was first known it leaves (W1)", () => {
    fc.assert(
      fc.property(course, fc.integer({ min: -100_000, max: 100_000 }), (each, stepMs) => {
        expect(dueAtMs(each, stepMs)).toBeLessThanOrEqual(knownAtMs(each) + each.delayMs + 1e-6);
      }),
    );
  });

  it("is never early while one of the two clocks that dated it goes as ours (W1)", () => {
    fc.assert(
      fc.property(course, fc.boolean(), (each, brokerAgrees) => {
        const agreeing = brokerAgrees ? { brokerOffMs: each.readerOffMs } : { writerOffMs: each.readerOffMs };
        const writtenAtMs = brokerAgrees ? each.appendLatencyMs : 0;
        const dueMs = dueAtMs({ ...each, ...agreeing });
        expect(dueMs).toBeGreaterThanOrEqual(writtenAtMs + each.delayMs - 1e-6);
      }),
    );
  });

  it("is due exactly its delay after it was appended while all clocks agree, however late it was found (W1)", () => {
    fc.assert(
      fc.property(course, (each) => {
        const { readerOffMs: off, appendLatencyMs, delayMs } = each;
        const dueMs = dueAtMs({ ...each, brokerOffMs: off, writerOffMs: off });
        expect(dueMs).toBeCloseTo(Math.max(knownAtMs(each), appendLatencyMs + delayMs), 5);
      }),
    );
  });
});

describe("when offsets were first known", () => {
  it("one end offset dates everything below it (DT1)", () => {
    const known = new FirstKnown(10);
    known.note(100, 5);
    known.note(1_000_000, 1000);
    expect(known.of(0)).toBe(5);
    expect(known.of(99)).toBe(5);
    expect(known.of(100)).toBe(1000);
    expect(known.of(999_999)).toBe(1000);
    expect(known.of(1_000_000)).toBeUndefined();
  });

  it("ends within a grain share a mark of the later moment, and those that bring nothing new change none (DT2)", () => {
    const known = new FirstKnown(10);
    known.note(10, 1000);
    known.note(20, 1005);
    known.note(20, 1009);
    known.note(15, 1009);
    expect([known.of(0), known.of(19), known.of(20)]).toEqual([1005, 1005, undefined]);
    known.note(30, 1010);
    expect(known.of(20)).toBe(1010);
  });

  it("an end that comes a grain after its mark was opened has a mark of its own (DT2)", () => {
    const known = new FirstKnown(10);
    known.note(10, 1000);
    known.note(20, 1009);
    known.note(30, 1010);
    expect([known.of(0), known.of(20)]).toEqual([1009, 1010]);
  });

  it("is never earlier than it was, and later by less than a grain (DT2)", () => {
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
