/** The check of `npm run verify` that a comment's lines are short. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "@posthaste/testkit/run-node";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("../../scripts/check-comments.mjs", import.meta.url));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-comments-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function check(text: string) {
  const file = join(folder, "packages/p/src/a.ts");
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(file, text);
  return await runNode([program, folder], { env: process.env });
}

it("names the line of a comment that is longer than 120 columns, whichever way the comment is written", async () => {
  const long = "word ".repeat(24);
  for (const [text, line] of [
    [`// ${long}\n`, 1],
    [`/** ${long}*/\n`, 1],
    [`const a = 1;\n/**\n * ${long}\n */\n`, 3],
  ] as const) {
    const { code, stderr } = await check(text);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`packages/p/src/a.ts:${line} has`)]);
  }
});

it("takes a comment of 120 columns, a long line of code, and a URL that cannot be broken", async () => {
  const { code, stderr } = await check(
    `// ${"x".repeat(117)}\nconst text = "${"x".repeat(120)}";\n// https://example.com/${"x".repeat(120)}\n`,
  );
  expect([code, stderr]).toEqual([0, ""]);
});

it("looks at something", async () => {
  expect((await runNode([program, folder], { env: process.env })).code).toBe(1);
});
