import { describe, expect, it } from "vitest";
import { saysTooMuch } from "./inflated-body.ts";

const bodyOf = (unit: string, times: number) => Buffer.from(`{"batch":[${unit.repeat(times)}0]}`);

describe("a compressed body", () => {
  it.each([
    ["empty objects", "{},", 170_000, 545],
    ["empty arrays", "[],", 170_000, 545],
    ["objects in one another", `{"a":`, 100_000, 300],
    ["numbers", "1,", 250_000, 534],
    ["keys with escapes", `{"\\n":0},`, 50_000, 928],
  ])("of half a megabyte of %s says too much for its size", (_what, unit, times, sentBytes) => {
    expect(saysTooMuch(bodyOf(unit, times), sentBytes)).toBe(true);
    expect(saysTooMuch(bodyOf(unit, times), 200_000)).toBe(false);
  });

  it.each([
    ["the same call, of 1 KB", `{"a":{},"b":{"c":{"d":1,"e":2}},"f":"${"x".repeat(980)}"},`, 480, 1_500],
    ["the same call, of 40 bytes", `{"type":"track","userId":"u","event":"E"},`, 12_000, 1_554],
    ["brackets and commas in texts", `"${'{[,\\"'.repeat(1_000)}",`, 100, 600],
  ])("of half a megabyte of %s does not", (_what, unit, times, sentBytes) => {
    expect(saysTooMuch(bodyOf(unit, times), sentBytes)).toBe(false);
  });

  it("that is small may say anything", () => {
    expect(saysTooMuch(bodyOf("{},", 1_000), 40)).toBe(false);
    expect(saysTooMuch(bodyOf("1,", 4_000), 40)).toBe(false);
  });

  it("ends in the middle of a text without harm", () => {
    expect(saysTooMuch(Buffer.from(`{"a":"${"x".repeat(10_000)}\\`), 20)).toBe(false);
  });
});
