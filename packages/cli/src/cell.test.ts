import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellText } from "./cell.ts";

describe("a cell", () => {
  it("shows plain values plainly", () => {
    expect([null, undefined, true, 1.5, "text", ["a", "b"], [], { set: true }, [{ url: "u" }]].map(cellText)).toEqual([
      "",
      "",
      "true",
      "1.5",
      "text",
      "a,b",
      "",
      '{"set":true}',
      '[{"url":"u"}]',
    ]);
  });

  it("is one line of one column, with nothing in it that a terminal would obey", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        for (const cell of [cellText(value), cellText(text), cellText([text])]) {
          expect(cell).not.toMatch(/[\p{Cc}\u2028\u2029\u202e\u200b\u200e\u200f\u061c\u{e0041}]/u);
        }
      }),
    );
    expect(cellText("\u001b[2Jgone\tb\n")).toBe(" [2Jgone b ");
    expect(cellText("a\u200bb\u200ec\u061cd\u{e0041}e نام‌ها")).toBe("a b c d e نام‌ها");
  });
});
