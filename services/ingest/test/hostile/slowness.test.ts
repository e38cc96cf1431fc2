import { describe, expect, it } from "vitest";
import { createSlowness, READINGS } from "./slowness.ts";

function slownessOf(...readings: readonly number[]) {
  const slowness = createSlowness(2);
  for (const ms of readings) slowness.read(ms);
  return slowness;
}

describe("how slow this machine is", () => {
  it("is as the reference before anything was read", () => {
    const { value, spread } = slownessOf();
    expect({ value, spread }).toEqual({ value: 1, spread: { least: 1, most: 1 } });
  });

  it("is what the fixed work costs, by what it costs on the reference", () => {
    expect(slownessOf(3).value).toBe(1.5);
  });

  it("is not changed by readings that are off in fewer than half of the cases (SLW1)", () => {
    const { value, spread } = slownessOf(3, 5, 3, 3, 5, 0.1, 3, 3, 5);
    expect(value).toBe(1.5);
    expect(spread).toEqual({ least: 0.05, most: 2.5 });
  });

  it("follows a machine that has become another", () => {
    const before = Array.from({ length: 100 }, () => 3);
    const after = Array.from({ length: Math.ceil(READINGS / 2) }, () => 5);
    expect(slownessOf(...before, ...after).value).toBe(2.5);
    expect(slownessOf(...before, ...after.slice(1)).value).toBe(1.5);
  });
});
