import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutLine, foldLine } from "./fold.ts";

const FEW = 20;

describe("a line that is too long for the terminal", () => {
  it("is broken between words and goes on further in", () => {
    expect(foldLine("  503 since the morning  waiting 12,031", FEW)).toEqual([
      "  503 since the",
      "      morning",
      "      waiting 12,031",
    ]);
  });

  it("keeps commands whole, and words that are longer than the terminal", () => {
    const command = "Next: posthaste destinations health dst_1";
    expect(foldLine(command, FEW)).toEqual([command]);
    const url = "https://acme.example/a/long/path";
    expect(foldLine(`from ${url} since`, FEW)).toEqual(["from", `    ${url}`, "    since"]);
  });

  it("loses no word and breaks no line that fits", () => {
    const words = fc.array(fc.stringMatching(/^[a-z✓]{1,30}$/), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(words, fc.integer({ min: 0, max: 6 }), fc.integer({ min: FEW, max: 80 }), (said, indent, columns) => {
        const line = " ".repeat(indent) + said.join("  ");
        const folded = foldLine(line, columns);
        expect(folded.join(" ").trim().split(/ +/)).toEqual(said);
        for (const each of folded) expect([...each].length <= columns || !each.trim().includes(" ")).toBe(true);
        if ([...line].length <= columns) expect(folded).toEqual([line]);
      }),
    );
  });

  it("has an end of its own where it is one row that is written over", () => {
    expect([cutLine("1234567890", 10), cutLine("123456789", 10)]).toEqual(["12345678…", "123456789"]);
  });
});
