import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DigitReader, fixed, varint, widthOf } from "./digits.ts";

describe("numbers as digits", () => {
  it("are read back one after the other, in either form", () => {
    const number = fc.record({ value: fc.maxSafeNat(), isFixed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(number), (numbers) => {
        const text = numbers
          .map(({ value, isFixed }) => (isFixed ? fixed(value, widthOf(value)) : varint(value)))
          .join("");
        expect(text).toMatch(/^[A-Za-z0-9_-]*$/);
        const reader = new DigitReader(text);
        for (const { value, isFixed } of numbers) {
          expect(isFixed ? reader.fixed(widthOf(value)) : reader.varint()).toBe(value);
        }
        expect(reader.varint()).toBeNull();
      }),
    );
  });

  it("are as short as they can be", () => {
    expect([0, 31, 32, 1023, 1024].map((value) => varint(value).length)).toEqual([1, 1, 2, 2, 3]);
    expect([0, 1, 63, 64, 4095, 4096].map(widthOf)).toEqual([0, 1, 1, 2, 2, 3]);
    expect(fixed(0, 0)).toBe("");
    expect(fixed(1, 3)).toBe("BAA");
  });

  it("that are cut off, or hold what is no digit, are none", () => {
    expect(new DigitReader(varint(99).slice(0, 1)).varint()).toBeNull();
    expect(new DigitReader("AB").fixed(3)).toBeNull();
    expect(new DigitReader("A.A").fixed(3)).toBeNull();
    expect(new DigitReader(".").varint()).toBeNull();
    expect(new DigitReader("").fixed(0)).toBe(0);
  });
});
