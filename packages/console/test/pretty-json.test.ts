/** A body for the eye: over several lines, and in blocks of them. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineBlocks } from "../src/body/line-blocks.ts";
import { prettyJson } from "../src/body/pretty-json.ts";

describe("JSON over several lines", () => {
  it("is as JSON.stringify has it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("is the same value, however it was written, and none of what is no JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const spaced = JSON.stringify(value, null, "\t").replaceAll("\n", " \r\n ");
        expect(prettyJson(spaced)).toBe(JSON.stringify(value, null, 2));
      }),
    );
    expect(prettyJson("no {")).toBeNull();
  });

  it("leaves numbers, strings and the order of fields as they were sent", () => {
    expect(prettyJson('{"b":1,"2":2,"1":3}')).toBe('{\n  "b": 1,\n  "2": 2,\n  "1": 3\n}');
    expect(prettyJson('{"id":12345678901234567890,"e":1.0e2,"t":"\\u00e9 [1, {2}] \\"","d":1,"d":2}')).toBe(
      '{\n  "id": 12345678901234567890,\n  "e": 1.0e2,\n  "t": "\\u00e9 [1, {2}] \\"",\n  "d": 1,\n  "d": 2\n}',
    );
  });

  it("ends where it is long enough, however deep it nests", () => {
    const most = 10_000;
    const deep = `${"[".repeat(100)}${"[],".repeat(10_000)}1${"]".repeat(100)}`;
    const whole = prettyJson(deep) ?? "";
    const pretty = prettyJson(deep, most) ?? "";
    expect(whole.length).toBeGreaterThan(2_000_000);
    expect(pretty.length).toBeGreaterThan(most);
    expect(pretty.length).toBeLessThan(most + 500);
    expect(whole.startsWith(pretty)).toBe(true);
  });
});

describe("lines in blocks", () => {
  it("are the text, a hundred lines each", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "\n") })), (texts) => {
        const text = texts.join("\n".repeat(30));
        const blocks = lineBlocks(text);
        expect(blocks.join("")).toBe(text);
        expect(blocks.length).toBeGreaterThan(0);
        for (const block of blocks.slice(0, -1)) {
          expect(block.endsWith("\n")).toBe(true);
          expect(block.split("\n")).toHaveLength(101);
        }
        expect(blocks.at(-1)?.split("\n").length).toBeLessThanOrEqual(101);
      }),
    );
  });
});
