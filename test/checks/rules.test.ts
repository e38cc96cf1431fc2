/** The check of `npm run verify` that a rule has one owner, and that a citation names the owner. */
import { expect, it } from "vitest";
import { check, useFolder } from "./checked-folder.ts";

useFolder();
/** Letters of the tests; written apart from their numbers, so that this file has no such rules itself. */
const Q = "ZQ";
const QUEUE = `/**\n * A queue.\n *\n * ${Q}1  It is first in, first out.\n * ${Q}2  It is bounded.\n */\n`;
const checkRules = (files: Readonly<Record<string, string>>) =>
  check("rules", { "docs/design.md": "- **C4** It drains.\n", "test/drain.test.ts": `it("C4: drains");\n`, ...files });

it("refuses a rule that two files define, letters that two folders have, and a number that nothing cites", async () => {
  const { code, stderr } = await checkRules({
    "packages/p/src/queue.ts": QUEUE,
    "packages/p/src/second.ts": `/**\n * ${Q}2  It is another.\n */\n`,
    "packages/q/drain.go": "package q\n\n//\tC4  It drains too.\n",
    "packages/q/src/third.ts": `/**\n * ${Q}3  It is elsewhere.\n */\n`,
  });
  expect(stderr.trimEnd().split("\n")).toEqual([
    `packages/p/src/second.ts defines ${Q}2, and so does packages/p/src/queue.ts`,
    "packages/q/drain.go defines C4, and so does docs/design.md",
    "packages/q/drain.go has rules C, and so has a file of docs",
    "packages/q/src/third.ts has rules ZQ, and so has a file of packages/p/src",
    "packages/p/src/queue.ts numbers ZQ1, which nothing cites",
    "packages/q/src/third.ts numbers ZQ3, which nothing cites",
  ]);
  expect(code).toBe(1);
});

it("refuses a citation without its file, and one of a rule that nobody has", async () => {
  const { code, stderr } = await checkRules({
    "packages/p/src/queue.ts": QUEUE,
    "packages/p/src/user.ts": `/** Takes the oldest (${Q}1). */\nexport const a = 1; // ${Q}97\n`,
    "packages/p/test/user.test.ts": `it("${Q}1, C4: takes the oldest", () => {});\nit("is full (${Q}2)", () => {});\n`,
  });
  expect(stderr.trimEnd().split("\n")).toEqual([
    `packages/p/src/user.ts cites ${Q}1 and does not name queue.ts`,
    `packages/p/src/user.ts cites ${Q}97, which no file defines`,
    `packages/p/test/user.test.ts cites ${Q}1 and does not name queue.ts`,
    `packages/p/test/user.test.ts cites ${Q}2 and does not name queue.ts`,
  ]);
  expect(code).toBe(1);
});

it("takes a citation that names the file: in a comment, by an import, by its name; and the design's", async () => {
  const { code, stdout, stderr } = await checkRules({
    "packages/p/src/queue.ts": QUEUE,
    "packages/p/src/queue.test.ts": `it("${Q}1: takes the oldest", () => {});\n`,
    "packages/p/src/user.ts": `/** Takes the oldest (${Q}1 of queue.ts), as C4 says. */\n`,
    "packages/q/src/user.ts": `import { a } from "@posthaste/p/queue";\n/** ${Q}2 */\nconst text = "${Q}97";\n`,
  });
  expect([code, stderr, stdout]).toEqual([0, "", "3 rules found in 6 files\n"]);
});

it("refuses a rule of the design without a test of npm test", async () => {
  const { code, stderr } = await checkRules({
    "test/drain.test.ts": "",
    "test/drain.long.test.ts": `it("C4: drains");\n`,
  });
  expect([code, stderr]).toEqual([1, "no test of npm test is named for C4 of docs/design.md\n"]);
});

it("looks at something", async () => {
  const { code, stdout } = await check("rules", { "docs/design.md": "Nothing.\n" });
  expect([code, stdout]).toEqual([1, "0 rules found in 1 files\n"]);
});
