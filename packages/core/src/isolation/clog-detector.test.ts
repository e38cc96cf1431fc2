import { describe, expect, it } from "vitest";
import { ClogDetector } from "./clog-detector.ts";

/** Twenty ticks of 20 ms, with `out` requests out and so many answers each. */
function watch(detector: ClogDetector, out: number, answersEach: number, usualMs = 20): boolean {
  for (let tick = 0; tick < 20; tick++) {
    for (let answer = 0; answer < answersEach; answer++) detector.answered();
    detector.passed(20, out, usualMs);
  }
  return detector.isClogged;
}

describe("the clog detector", () => {
  it("CD1: finds a clog where most of what is out does not come back, though some is answered all the time", () => {
    expect(watch(new ClogDetector(), 64, 31)).toBe(true);
    expect(watch(new ClogDetector(), 64, 33)).toBe(false);
  });

  it("CD1: finds none where requests take long and come back as they should, and forgets one that is over", () => {
    const detector = new ClogDetector();
    expect(watch(detector, 100, 5, 400)).toBe(false);
    expect(watch(detector, 100, 0, 100)).toBe(true);
    expect(watch(detector, 100, 20, 100)).toBe(false);
    expect(watch(detector, 100, 0, 100)).toBe(true);
    detector.reset();
    expect(detector.isClogged).toBe(false);
  });

  it("CD2: does not count what began within the period, nor what has ended by its end", () => {
    const burst = new ClogDetector();
    burst.passed(190, 1, 20);
    burst.passed(20, 64, 20);
    expect(burst.isClogged).toBe(false);
    burst.passed(199, 64, 20);
    expect(burst.isClogged).toBe(false);
    burst.passed(1, 64, 20);
    expect(burst.isClogged).toBe(true);
    watch(burst, 64, 64);
    burst.passed(200, 0, 20);
    expect(burst.isClogged).toBe(false);
  });

  it("CD1: looks for longer at requests that take long: half as long again as one", () => {
    const detector = new ClogDetector();
    detector.passed(600, 10, 400);
    detector.passed(599, 10, 400);
    expect(detector.isClogged).toBe(false);
    detector.passed(1, 10, 400);
    expect(detector.isClogged).toBe(true);
  });
});
