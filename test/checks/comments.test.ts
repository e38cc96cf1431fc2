/** The check of `npm run verify` that comments are short lines of plain English. */
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

const HEADLESS = [
  "What the router sent.",
  "Who waits for a permit.",
  "Whose events are stopped.",
  "Counts what was sent.",
  "The moment of the commit, and that of the fetch.",
  "Drops events, but for those of other sources.",
  "Whoever asks gets the answer.",
  "The table says who may ask.",
  "Reads that which was committed.",
  "A deletion stops events and tells whose.",
];
const PLAIN = [
  "Returns the open dead letters of a destination.",
  "Counts the rejected calls.",
  "The user whose events a deletion stopped.",
  "A process that holds the lease.",
  "The operator who accepts a loss.",
  "The customer for whom the audience was made.",
  "Ends the session of `whoever` signed in.",
  'The answer is "what is that".',
  "True while a what-if plan is open.",
  "Null where the topic has no records.",
];

it("names each sentence with a headless clause in a package that has too many, and its share", async () => {
  const text = [...HEADLESS, ...PLAIN].map((sentence) => `/** ${sentence} */\n`).join("");
  const { code, stdout, stderr } = await checkComment(text);
  expect(stderr.trimEnd().split("\n")).toEqual(
    HEADLESS.map((sentence, index) => `packages/p/src/a.ts:${index + 1} ${sentence}`),
  );
  expect([code, stdout]).toEqual([1, expect.stringContaining("packages/p: 10 of 20 sentences, 50.0 % of at most 3 %")]);
});

it("takes plain sentences, over several lines and in lists", async () => {
  const { code, stderr, stdout } = await checkComment(
    `/**\n * ${PLAIN.join("\n * ")}\n * - ${PLAIN.join("\n * - ")}\n */\n`,
  );
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("packages/p: 0 of 20 sentences");
});
