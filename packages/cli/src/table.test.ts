import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitTable } from "./table.ts";

const cell = fc.string({ unit: fc.constantFrom("a", "é", "🔑", " ", ",", "/"), maxLength: 60 });
const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 });
const HEADER = ["id", "name", "createdAt"];
const linesOf = (header: readonly string[], entries: readonly (readonly string[])[], width: number) => {
  const table = fitTable(header, entries, { width });
  return [...table.header, ...table.rows.flat()];
};

describe("a table", () => {
  it("is on one line a row where that fits", () => {
    const entries = [
      ["src_1", "Web shop"],
      ["src_22", ""],
    ];
    expect(linesOf(["id", "name"], entries, 80)).toEqual(["id      name", "src_1   Web shop", "src_22"]);
  });

  it("wraps its widest columns, between words, and cuts nothing", () => {
    const url = "https://a.example/a/long/path";
    expect(linesOf(["id", "urls"], [["dst_1", `${url},https://b.example/`]], 27)).toEqual([
      "id     urls",
      "dst_1  https://a.example/a/",
      "       long/path,https://",
      "       b.example/",
    ]);
  });

  it("breaks no id, and leaves out the last columns that find no room", () => {
    const id = "dst_b6gntcye921ah6pt";
    const header = ["open", "destinationIds", "remedy", "lastAt"];
    const table = fitTable(header, [["1", `${id},${id}`, "the receiver refuses it", "2026-11-26T12:06:34.399Z"]], {
      width: 40,
    });
    expect(table.hidden).toEqual(["lastAt"]);
    expect(table.rows.flat()).toEqual([`1     ${id},  the`, `      ${id}   receiver`, `${" ".repeat(29)}refuses it`]);
  });

  it("is painted part by part, by the width of what is seen", () => {
    const paint = (part: string, column: string) => (column === "state" ? `<${part}>` : part);
    const table = fitTable(["state", "name"], [["open", "Shop"]], { width: 80, paint });
    expect([table.header, table.rows]).toEqual([["state  name"], [["<open>   Shop"]]]);
  });

  it("is never wider than a terminal that holds two columns, keeps every row, and every sign of what it shows", () => {
    const signs = (text: string) => [...text.replaceAll(" ", "")].sort().join("");
    fc.assert(
      fc.property(rows, fc.integer({ min: 22, max: 200 }), (entries, width) => {
        const table = fitTable(HEADER, entries, { width });
        expect(table.rows).toHaveLength(entries.length);
        expect(table.hidden).toEqual(HEADER.slice(HEADER.length - table.hidden.length));
        for (const [index, lines] of table.rows.entries()) {
          for (const line of lines) expect([...line].length).toBeLessThanOrEqual(width);
          const shown = entries[index]?.slice(0, HEADER.length - table.hidden.length) ?? [];
          expect(signs(lines.join(""))).toBe(signs(shown.join("")));
        }
      }),
    );
  });
});
