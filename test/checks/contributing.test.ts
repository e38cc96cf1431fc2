/** The recipes of CONTRIBUTING.md name files; one that was moved or renamed takes its mention with it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("every file that CONTRIBUTING.md names is there", () => {
  const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const inTree = /`((?:deploy|docs|packages|schemas|scripts|services|test)\/[\w./-]+)`/g;
  const named = [...page.matchAll(inTree)].map(([, path]) => path ?? "");
  expect(named.length).toBeGreaterThan(40);
  // A tag of Go's is no file.
  const files = named.filter((path) => !path.endsWith("/vMAJOR.MINOR.PATCH"));
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
