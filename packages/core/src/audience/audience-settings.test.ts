import { describe, expect, it } from "vitest";
import { parseJson } from "../call/parse-json.ts";
import { audienceInput, membersPatch, traitValueInput, userIdInput } from "./audience-settings.ts";

const issueOf = (result: {
  readonly error?: { readonly issues: readonly { readonly message: string }[] } | undefined;
}) => result.error?.issues[0]?.message;

describe("the input of an audience", () => {
  it("needs a name of which a trait can be made", () => {
    expect(audienceInput.parse({ name: " VIP ", sourceId: "s" })).toEqual({ name: "VIP", sourceId: "s" });
    expect(issueOf(audienceInput.safeParse({ name: "🎉!", sourceId: "s" }))).toMatch(/needs a letter or a digit/);
    expect(issueOf(audienceInput.safeParse({ name: " ", sourceId: "s" }))).toBe("a name is needed");
  });

  it("takes a user id as text or as a whole number, and nothing that UTF-8 cannot write", () => {
    expect([userIdInput.parse("u"), userIdInput.parse(17)]).toEqual(["u", "17"]);
    for (const half of ["a\ud800", "a\udbff"]) {
      expect(issueOf(userIdInput.safeParse(half))).toMatch(/half of a surrogate pair/);
    }
    for (const bad of ["", 1.5, null, {}, "x".repeat(8193)]) expect(userIdInput.safeParse(bad).success).toBe(false);
  });

  it("refuses a user that is added and removed at once, and more than it takes", () => {
    expect(membersPatch.parse({ add: ["a"] })).toEqual({ add: ["a"], remove: [] });
    expect(issueOf(membersPatch.safeParse({ add: ["1"], remove: [1] }))).toBe("is added as well");
    expect(membersPatch.safeParse({ add: Array.from({ length: 10_001 }, String) }).success).toBe(false);
  });

  it("takes any JSON value that a call could carry", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(traitValueInput.parse({ b: [1, "x"], a: null })).toBe('{"a":null,"b":[1,"x"]}');
    expect([traitValueInput.safeParse(nested(98)).success, traitValueInput.safeParse(nested(99)).success]).toEqual([
      true,
      false,
    ]);
    expect(issueOf(traitValueInput.safeParse("x".repeat(16_384)))).toBe("a value has at most 16 KB of JSON");
  });

  it.each([
    ['{"b": {"z": 1, "a": [{"y": 1, "x": 2}]}, "a": 1}', '{"a":1,"b":{"a":[{"x":2,"y":1}],"z":1}}'],
    ["[2, 1]", "[2,1]"],
    ["1.0", "1"],
    ["1e2", "100"],
    ["-0", "0"],
    ["[-0, 0.10]", "[0,0.1]"],
    ["1e400", "null"],
    ["null", "null"],
    ['""', '""'],
    ["{}", "{}"],
    ['"\\u00e9"', '"é"'],
    ['{"__proto__": {"b": 1, "a": 2}, "10": 1, "9": 2}', '{"9":2,"10":1,"__proto__":{"a":2,"b":1}}'],
  ])("takes %s for the same value as %s", (written, reported) => {
    expect(traitValueInput.parse(parseJson(written))).toBe(reported);
    expect(traitValueInput.parse(parseJson(reported))).toBe(reported);
  });
});
