import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitTable } from "./table.ts";

const cell = fc.string({ unit: fc.constantFrom("a", "é", "🔑", " "), maxLength: 60 });
const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 });
const HEADER = ["id", "name", "createdAt"];

describe("a table", () => {
  it("is whole when it fits", () => {
    expect(
      fitTable(
        ["id", "name"],
        [
          ["src_1", "Web shop"],
          ["src_22", ""],
        ],
        80,
      ),
    ).toEqual(["id      name", "src_1   Web shop", "src_22"]);
  });

  it("cuts its widest columns first, and says that it did", () => {
    expect(fitTable(["id", "url"], [["dst_1", "https://a.example/a/long/path"]], 22)).toEqual([
      "id     url",
      "dst_1  https://a.exam…",
    ]);
  });

  it("cuts no id as long as other columns can be cut", () => {
    const id = "dst_b6gntcye921ah6pt";
    const header = ["open", "destinationId", "remedy", "lastAt"];
    const remedy = "the receiver refuses what it is sent: mend it there, then replay";
    const [, line] = fitTable(header, [["1", id, remedy, "2026-11-26T12:06:34.399Z"]], 60);
    expect(line).toMatch(new RegExp(`^1     ${id}  .+…  .+…$`));
    const narrow = fitTable(["destinationId", "remedy"], [[id, remedy]], 22);
    expect(narrow[1]).toMatch(/^dst_b6g.*… {2}.+…$/);
  });

  it("is never wider than the terminal, which holds three columns, and keeps every row", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 22, max: 200 }), (entries, width) => {
        const lines = fitTable(HEADER, entries, width);
        expect(lines).toHaveLength(entries.length + 1);
        for (const line of lines) expect([...line].length).toBeLessThanOrEqual(width);
      }),
    );
  });

  it("shows every cell whole where there is room for all", () => {
    fc.assert(
      fc.property(rows, (entries) => {
        const [, ...lines] = fitTable(HEADER, entries, 1000);
        lines.forEach((line, index) => {
          for (const text of entries[index] ?? []) expect(line).toContain(text.trimEnd());
        });
      }),
    );
  });
});
