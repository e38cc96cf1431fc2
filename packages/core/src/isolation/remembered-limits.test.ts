import { describe, expect, it } from "vitest";
import { RememberedLimits } from "./remembered-limits.ts";

const HOUR_MS = 3_600_000;

describe("remembered limits", () => {
  it("RL1: are remembered for hours, less and less, and forgotten after twelve", () => {
    const limits = new RememberedLimits(8);
    limits.note("a", 512, 0);
    const then = (hours: number) => limits.of("a", hours * HOUR_MS);
    expect([then(0), then(2), then(4)]).toEqual([512, 260, 134]);
    expect(then(12 - 1e-6)).toBeGreaterThan(8);
    expect(then(12)).toBeNull();
  });

  it("RL1: age from the moment at which they were noted", () => {
    const limits = new RememberedLimits(8);
    limits.note("a", 512, 7 * HOUR_MS);
    expect([limits.of("a", 9 * HOUR_MS), limits.of("a", 19 * HOUR_MS)]).toEqual([260, null]);
  });

  it("are not kept of what is no more than anybody begins with, and no longer of what fell to that", () => {
    const limits = new RememberedLimits(8);
    limits.note("a", 8, 0);
    limits.note("b", 64, 0);
    limits.note("b", 5, 1);
    expect([limits.of("a", 1), limits.of("b", 1), limits.of("c", 1)]).toEqual([null, null, null]);
  });

  it("are kept of twenty thousand keys, those noted last", () => {
    const limits = new RememberedLimits(8);
    limits.note("first", 64, 0);
    for (let index = 0; index < 19_999; index++) limits.note(`key-${index}`, 64, 0);
    limits.note("first", 64, 0);
    limits.note("last", 64, 0);
    expect([limits.of("first", 0), limits.of("key-0", 0), limits.of("key-1", 0), limits.of("last", 0)]).toEqual([
      64,
      null,
      64,
      64,
    ]);
  });
});
