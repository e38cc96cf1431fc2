/** The check of `npm run verify` that a comment's lines are short. */
import { expect, it } from "vitest";
import { check, useFolder } from "./checked-folder.ts";

useFolder();

const checkComment = (text: string) => check("comments", { "packages/p/src/a.ts": text });

it("names the line of a comment that is longer than 120 columns, whichever way the comment is written", async () => {
  const long = "word ".repeat(24);
  for (const [text, line] of [
    [`// ${long}\n`, 1],
    [`/** ${long}*/\n`, 1],
    [`const a = 1;\n/**\n * ${long}\n */\n`, 3],
  ] as const) {
    const { code, stderr } = await checkComment(text);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`packages/p/src/a.ts:${line} has`)]);
  }
});

it("takes a comment of 120 columns, a long line of code, and a URL that cannot be broken", async () => {
  const { code, stderr } = await checkComment(
    `// ${"x".repeat(117)}\nconst text = "${"x".repeat(120)}";\n// https://example.com/${"x".repeat(120)}\n`,
  );
  expect([code, stderr]).toEqual([0, ""]);
});

it("looks at something", async () => {
  expect((await check("comments")).code).toBe(1);
});
