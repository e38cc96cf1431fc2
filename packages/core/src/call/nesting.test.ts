import fc from "fast-check";
import { expect, it } from "vitest";
import { hasNestingOver, limitNesting } from "./nesting.ts";

const brackets = fc.string({ unit: fc.constantFrom("[", "]", "{", "}", '"', "\\", "a"), maxLength: 12 });
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "large" },
    brackets,
    fc.constant(0),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(brackets, tie("value"), { maxKeys: 3 }),
  ),
})).value;

function levelsOf(value: unknown): number {
  return typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0;
}

it("counts the objects and arrays in one another, and none that a string only looks like", () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 0, max: 8 }), (value, levels) => {
      expect(hasNestingOver(JSON.stringify(value), levels)).toBe(levelsOf(value) > levels);
    }),
    { numRuns: 2_000 },
  );
});

it("finds the end of a long string, whatever backslashes stand before its quotes", () => {
  const letters = fc.string({ unit: fc.constantFrom("[", '"', "\\", "a"), minLength: 50, maxLength: 200 });
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 4 }), fc.integer({ min: 0, max: 3 }), (strings, levels) => {
      const value = strings.reduce<unknown>((inner, string) => [string, { [string]: inner }], 0);
      expect(hasNestingOver(JSON.stringify(value), levels)).toBe(levelsOf(value) > levels);
    }),
    { numRuns: 2_000 },
  );
});

it("cuts what stands below so many levels and nothing else", () => {
  const cut = (value: unknown, levels: number): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (levels === 0) return null;
    if (Array.isArray(value)) return value.map((inner) => cut(inner, levels - 1));
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, levels - 1)]));
  };
  fc.assert(
    fc.property(json, fc.integer({ min: 1, max: 6 }), (value, levels) => {
      const expected = cut(value, levels);
      limitNesting(value, levels);
      expect(JSON.stringify(value)).toBe(JSON.stringify(expected));
    }),
    { numRuns: 2_000 },
  );
});
