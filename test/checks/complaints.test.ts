/** The rules of docs/testing.md that come from complaints: each names tests that are there. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RULES = 26;
const ROW = /^\| (\d+) \| .* \| (.*) \|$/gm;
const NAMED = /`([^`]+\.ts)` "([^"]+)"/g;

it("each of the rules is held by a test that is named", async () => {
  const page = await readFile(`${ROOT}docs/testing.md`, "utf8");
  const [, section = ""] = page.split("## What users of such tools complain of");
  const rows = [...section.matchAll(ROW)].map(([, number = "", heldBy = ""]) => ({ number, heldBy }));
  expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: RULES }, (_, n) => n + 1));
  const missing: string[] = [];
  for (const { number, heldBy } of rows) {
    const named = [...heldBy.matchAll(NAMED)];
    if (named.length === 0) missing.push(`${number} names no test`);
    for (const [, file = "", title = ""] of named) {
      const source = await readFile(`${ROOT}${file}`, "utf8").catch(() => "");
      if (!source.includes(title)) missing.push(`${number}: ${file} has no "${title}"`);
    }
  }
  expect(missing).toEqual([]);
});
