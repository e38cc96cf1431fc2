import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, MAX_NESTING, toFragment } from "./json-fragment.ts";
import { parseJson } from "./parse-json.ts";

describe("fragments", () => {
  it("are fixed points of parse and stringify for any JSON text (JF1)", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const fragment = toFragment(parseJson(text), MAX_NESTING);
        expect(fragment).not.toBeNull();
        expect(JSON.stringify(parseJson(String(fragment)))).toBe(fragment);
      }),
    );
  });

  it.each([
    ["integer-like keys, which come first whatever their place", `{"b":1,"10":2,"9":3}`, `{"9":3,"10":2,"b":1}`],
    ["a key __proto__, which stays a key", `{"__proto__":{"a":1}}`, `{"__proto__":{"a":1}}`],
    ["half of a surrogate pair, which stays an escape", `{"a":"\\uD800"}`, `{"a":"\\ud800"}`],
    ["a whole pair, which becomes a character", `{"a":"\\ud83d\\ude80"}`, `{"a":"🚀"}`],
    ["minus zero", `{"a":-0}`, `{"a":0}`],
    ["a large number", `{"a":1e21}`, `{"a":1e+21}`],
    ["a number beyond a double", `{"a":1e400}`, `{"a":null}`],
    ["a repeated key, of which the last one counts", `{"a":1,"a":2}`, `{"a":2}`],
    ["NUL", `{"a":"\\u0000"}`, `{"a":"\\u0000"}`],
  ])("hold %s", (_name, text, expected) => {
    expect(toFragment(parseJson(text), MAX_NESTING)).toBe(expected);
  });

  it("may nest as deep as allowed and not one level more (JF2)", () => {
    const nested = (levels: number) => parseJson("[".repeat(levels) + "]".repeat(levels));
    expect(toFragment(nested(MAX_NESTING), MAX_NESTING)).not.toBeNull();
    expect(toFragment(nested(MAX_NESTING + 1), MAX_NESTING)).toBeNull();
    expect(toFragment(nested(200_000), MAX_NESTING)).toBeNull();
  });

  it("may have any number of brackets side by side, and in strings", () => {
    const flat = Array.from({ length: 500 }, () => ({ text: "[[[{{{" }));
    expect(toFragment(flat, 2)).toBe(JSON.stringify(flat));
  });
});

it("takes arrays and null for no JSON objects", () => {
  expect([{}, { a: 1 }, [], null, "x", 1, undefined].map(isJsonObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
