/** The check of `npm run verify` that no circle of folders comes about. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "@posthaste/testkit/run-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../../scripts/check-rooms.mjs", import.meta.url));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-rooms-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Checks a package that has these files, each of which imports those. */
async function check(files: Readonly<Record<string, readonly string[]>>) {
  for (const [path, imports] of Object.entries(files)) {
    const file = join(folder, "packages/p/src", path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, imports.map((each) => `import type { X } from "${each}";`).join("\n"));
  }
  return await runNode([program, folder], { env: process.env });
}

describe("rooms", () => {
  it("may stand on one another, on what lies in src itself, and on other packages", async () => {
    const { code, stdout } = await check({
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
    const { code, stderr } = await check({
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
    expect((await runNode([program, folder], { env: process.env })).code).toBe(1);
  });
});
