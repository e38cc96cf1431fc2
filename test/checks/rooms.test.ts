/** The check of `npm run verify` that no circle of folders comes about. */
import { describe, expect, it } from "vitest";
import { check, useFolder } from "./checked-folder.ts";

useFolder();

/** Checks a package that has these files, each of which imports those. */
function checkImports(files: Readonly<Record<string, readonly string[]>>) {
  const texts = Object.entries(files).map(([path, imports]) => [
    `packages/p/src/${path}`,
    imports.map((each) => `import type { X } from "${each}";`).join("\n"),
  ]);
  return check("rooms", Object.fromEntries(texts));
}

describe("rooms", () => {
  it("may stand on one another, on what lies in src itself, and on other packages", async () => {
    const { code, stdout } = await checkImports({
      "roof/a.ts": ["../floor/b.ts", "../errors.ts", "@posthaste/other/roof/a"],
      "roof/inner/c.ts": ["../../floor/b.ts"],
      "floor/b.ts": ["../ground/d.ts", "./e.ts"],
      "floor/e.ts": ["./b.ts"],
      "floor/e.test.ts": ["../roof/a.ts"],
      "ground/d.ts": [],
      "main.ts": ["./roof/a.ts"],
    });
    expect([code, stdout]).toEqual([0, "6 sources looked at\n"]);
  });

  it("make no circle, however long, and the imports that make one are named", async () => {
    const { code, stderr } = await checkImports({
      "roof/a.ts": ["../floor/b.ts"],
      "floor/b.ts": ["../ground/d.ts"],
      "ground/c.ts": ["../roof/a.ts"],
      "ground/d.ts": [],
    });
    expect(code).toBe(1);
    for (const arrow of ["roof/a.ts -> packages/p/src/floor/b.ts", "floor/b.ts -> packages/p/src/ground/d.ts"]) {
      expect(stderr).toContain(`packages/p/src/${arrow}`);
    }
    expect(stderr).toContain("packages/p/src/ground/c.ts -> packages/p/src/roof/a.ts");
  });

  it("are to be found at all", async () => {
    expect((await check("rooms")).code).toBe(1);
  });
});
