/** The check of `npm run verify` that folders make no circle, and that control keeps to its wings. */
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

  it("of a wing of control import no higher wing and no file that opens the wings", async () => {
    const files = {
      "services/control/src/parts.ts": 'import { a } from "./health/doctor/a.ts";',
      "services/control/src/health/doctor/a.ts":
        'import { b } from "../../configuration/sources/b.ts";\nimport type { P } from "../../parts.ts";',
      "services/control/src/configuration/sources/b.ts": 'import { c } from "../../operations/replays/c.ts";',
      "services/control/src/operations/replays/c.ts": "",
    };
    const { code, stderr } = await check("rooms", files);
    expect(code).toBe(1);
    const wings = "services/control/src";
    expect(stderr).toContain(
      `this import points to a higher wing: ${wings}/configuration/sources/b.ts -> ${wings}/operations/replays/c.ts\n`,
    );
    expect(stderr).toContain(`this import points to a higher wing: ${wings}/health/doctor/a.ts -> ${wings}/parts.ts\n`);
    expect(stderr).not.toContain(`a.ts -> ${wings}/configuration`);
  });

  it("of control are bounded, and so are its loose files and its lines", async () => {
    const loose = Array.from({ length: 7 }, (_, n) => [`services/control/src/loose-${n}.ts`, ""]);
    const rooms = Array.from({ length: 31 }, (_, n) => [`services/control/src/health/room-${n}/a.ts`, ""]);
    const long = ["services/control/src/health/room-0/long.ts", "\n".repeat(16_001)];
    const { code, stderr } = await check("rooms", Object.fromEntries([...loose, ...rooms, long]));
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toEqual([
      "services/control/src/ has 7 loose files, at most 6",
      "services/control/src/ has 31 rooms, at most 30",
      "services/control/src/ has 16001 lines, at most 16000",
    ]);
  });

  it("are to be found at all", async () => {
    expect((await check("rooms")).code).toBe(1);
  });
});
