import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_NAME_LENGTH, shortName } from "./short-name.ts";

describe("a name that is kept beside each delivery", () => {
  it("stays as it is up to 256 characters", () => {
    expect(shortName("")).toBe("");
    expect(shortName("n".repeat(256))).toBe("n".repeat(256));
  });

  it("keeps the beginning of a longer one, and tells two with the same beginning apart", () => {
    const [one, other] = [shortName(`${"n".repeat(300)}1`), shortName(`${"n".repeat(300)}2`)];
    expect(one).toBe(`${"n".repeat(239)}~${one.slice(240)}`);
    expect(one).toMatch(/~[0-9a-f]{16}$/);
    expect(one).not.toBe(other);
    expect(shortName(`${"n".repeat(300)}1`)).toBe(one);
  });

  it("is never longer than 256 characters and never ends the beginning between the halves of a pair", () => {
    const names = fc.string({ unit: fc.constantFrom("a", "é", "😀"), minLength: 100, maxLength: 600 });
    fc.assert(
      fc.property(names, (name) => {
        const short = shortName(name);
        expect(short.length).toBeLessThanOrEqual(MAX_NAME_LENGTH);
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });
});
