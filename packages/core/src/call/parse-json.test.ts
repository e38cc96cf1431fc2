import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { isPosthasteError } from "../errors.ts";
import { MAX_PARSED_NESTING, MAX_STAND_INS, parseJson } from "./parse-json.ts";

/** Keys of which many have a backslash or must be written with an escape, so that they meet each other in one shape. */
const key = fc.oneof(
  fc.constantFrom("\\", "\n", '"', "\ud800", "\\n", "\\u", "\nx", "a", "", "10", "__proto__"),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    key,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constantFrom(null, true, false, 1e21),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

/** The value as text with blanks where JSON allows them. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 1);

describe("parseJson", () => {
  it("reads any value back, whatever its keys and whatever was read before", () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 4 }), (values) => {
        for (const value of values) {
          const text = JSON.stringify(value);
          expect(JSON.stringify(parseJson(text))).toBe(text);
          expect(JSON.stringify(parseJson(spaced(value)))).toBe(text);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("keeps a key that is written with an escape apart from a backslash that stood in its place before", () => {
    for (const escaped of ["\\n", '\\"', "\\u0041", "\\ud800"]) {
      parseJson('{"a":0,"\\\\":0}');
      const [, second] = Object.keys(parseJson(`{"a":0,"${escaped}":0}`) as object);
      expect(second).toBe(JSON.parse(`"${escaped}"`));
    }
  });

  it("takes the last of a repeated key, in the place of the first, and keeps __proto__ a key", () => {
    expect(JSON.stringify(parseJson('{"\\n":1,"b":2,"\\n":3,"__proto__":{"c":4}}'))).toBe(
      '{"\\n":3,"b":2,"__proto__":{"c":4}}',
    );
  });

  it("throws what JSON.parse throws", () => {
    expect(() => parseJson('{"\\n":')).toThrow(SyntaxError);
    expect(() => parseJson('{"\\x":1}')).toThrow(SyntaxError);
  });

  describe("of text that nests deeper than anything that is accepted", () => {
    const levelsOf = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0;
    /** Arrays and objects in one another, and a shallow value beside each. */
    const nested = (levels: number, beside: string, brackets: readonly (readonly [string, string])[]): string => {
      const at = (level: number) => brackets[level % brackets.length] ?? ["[", "]"];
      const open = Array.from({ length: levels }, (_, level) => at(level)[0].replace("BESIDE", beside)).join("");
      const close = Array.from({ length: levels }, (_, level) => at(levels - 1 - level)[1]).join("");
      return `${open}0${close}`;
    };
    const kinds = [
      ["[", "]"],
      ["[BESIDE,", "]"],
      [`{"\\n":BESIDE,"\\\\":`, "}"],
      [`{"__proto__":`, "}"],
    ] as const;

    it("answers what nests as deep as it may whole, and cuts what is deeper there (PJ1)", () => {
      const levels = fc.oneof(
        fc.integer({ min: MAX_PARSED_NESTING - 3, max: MAX_PARSED_NESTING + 3 }),
        fc.integer({ min: 1, max: 9_000 }),
      );
      const besides = fc.constantFrom(...[0, '[{"]', { "\n": [] }, [[[]]]].map((beside) => JSON.stringify(beside)));
      fc.assert(
        fc.property(levels, besides, fc.subarray([...kinds], { minLength: 1 }), (depth, beside, brackets) => {
          const text = nested(depth, beside, brackets);
          const value = parseJson(text);
          expect(levelsOf(value)).toBeLessThanOrEqual(MAX_PARSED_NESTING);
          // The cut value is still that deep: a check that refused the depth still refuses it.
          if (depth > MAX_PARSED_NESTING) expect(levelsOf(value)).toBe(MAX_PARSED_NESTING);
          if (depth <= MAX_PARSED_NESTING - 3) expect(JSON.stringify(value)).toBe(text);
        }),
        { numRuns: 200 },
      );
    });

    it("leaves what stands beside it as it is, keys with escapes among it", () => {
      const deep = "[".repeat(100_000) + "]".repeat(100_000);
      const [first, , third] = parseJson(`[{"a":0,"\\\\":0},${deep},{"a":0,"\\n":["x"]}]`) as object[];
      expect([first, third]).toEqual([
        { a: 0, "\\": 0 },
        { a: 0, "\n": ["x"] },
      ]);
    });
  });

  it("reads long strings and many escapes in one pass", () => {
    const text = `{"\\n":"${"\\n".repeat(200_000)}","b":[${Array.from({ length: 20_000 }, () => '"\\\\"').join(",")}]}`;
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it("gives every key back that needs a stand-in, beside texts that look like one", () => {
    const keys = ["\n", '"', "\\", "\ue0000", "\ue000\ue0001", "\ue000\n", "10", "\u0001"];
    const escaped = (key: string) =>
      `"${[...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`;
    for (const beside of ["", "\ue000", "\ue000\ue000", "\ue0000"]) {
      const text = `{"x":"${beside}",${keys.map((key, index) => `${escaped(key)}:${index}`).join(",")}}`;
      expect(parseJson(text)).toEqual({ x: beside, ...Object.fromEntries(keys.map((key, index) => [key, index])) });
    }
  });

  it("calls the platform's parser as often for a thousand escaped keys as for ten, once for each other", () => {
    const texts = (count: number) =>
      `{"a":[${Array.from({ length: count }, (_, index) => `{"\\n":${index},"\\u0061":"x"}`).join(",")}]}`;
    const calls = (text: string) => {
      const spy = vi.spyOn(JSON, "parse");
      try {
        parseJson(text);
        return spy.mock.calls.length;
      } finally {
        spy.mockRestore();
      }
    };
    // One for each key as it is written, and one for the text.
    expect([calls(texts(10)), calls(texts(1_000))]).toEqual([3, 3]);
  });

  it("refuses more keys that need an escape than it has stand-ins for, and counts a repeated one once", () => {
    const text = (keys: readonly string[]) => `[${keys.map((key) => `{${JSON.stringify(key)}:0}`).join(",")}]`;
    const keys = Array.from({ length: MAX_STAND_INS }, (_, index) => `\n${index}`);
    expect(JSON.stringify(parseJson(text([...keys, ...keys])))).toBe(text([...keys, ...keys]));
    let thrown: unknown;
    try {
      parseJson(text([...keys, "\\"]));
    } catch (error) {
      thrown = error;
    }
    expect(isPosthasteError(thrown, "invalid_input")).toBe(true);
  });

  it("has no bound on keys that an encoder chose to escape", () => {
    const keys = Array.from({ length: 5 * MAX_STAND_INS }, (_, index) => `é${index}`);
    const text = JSON.stringify(keys.map((key) => ({ [key]: 0 }))).replaceAll("é", "\\u00e9");
    expect(Object.keys((parseJson(text) as object[]).at(-1) ?? {})).toEqual([keys.at(-1)]);
  });
});
