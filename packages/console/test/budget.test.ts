import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { assertSmall } from "../build/budget.ts";

const manifest = {
  "index.html": { file: "begin.js", isEntry: true, imports: ["_helper"], dynamicImports: ["console.tsx"] },
  _helper: { file: "helper.js" },
  "console.tsx": { file: "first.js", imports: ["_shared"], dynamicImports: ["page.tsx"] },
  _shared: { file: "shared.js" },
  "page.tsx": { file: "page.js", imports: ["_shared"] },
};
/** Bytes that gzip makes no shorter. */
const kilobytes = (count: number) => randomBytes(count * 1024);

describe("the build's size", () => {
  it("is what the first page loads, and all of it", () => {
    const scripts = new Map([
      ["begin.js", kilobytes(10)],
      ["helper.js", kilobytes(10)],
      ["first.js", kilobytes(100)],
      ["shared.js", kilobytes(100)],
      ["page.js", kilobytes(100)],
    ]);
    expect(assertSmall(manifest, scripts)).toMatch(/: 22\d KB .* first page, 32\d in all$/);
  });

  it.each([
    ["the first page loads more than 250 KB", [151, 100, 1]],
    ["all of it is more than 400 KB", [100, 100, 201]],
  ])("is refused where %s", (_, [first = 0, shared = 0, page = 0]) => {
    const scripts = new Map([
      ["first.js", kilobytes(first)],
      ["shared.js", kilobytes(shared)],
      ["page.js", kilobytes(page)],
    ]);
    expect(() => assertSmall(manifest, scripts)).toThrow("at most 250 and 400");
  });

  it("is refused where no page was built", () => {
    expect(() => assertSmall({}, new Map())).toThrow("no first page");
  });
});
