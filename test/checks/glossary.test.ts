/** The check of `npm run verify` that private words do not come back, and the size of the glossary. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { check, useFolder } from "./checked-folder.ts";

useFolder();

/** Checks a file of core with these lines, beside others. */
const checkLines = (lines: readonly string[], others: Readonly<Record<string, string>> = {}) =>
  check("glossary", { "packages/core/src/x.ts": lines.join("\n"), ...others });

describe("an exported name", () => {
  it("may have any other word, and dead letters", async () => {
    const { code, stdout } = await checkLines([
      "export class DeadLetters<T> {}",
      "export const MAX_DEAD_LETTERS = 1;",
      "export async function unwantedUpbeat() {}",
    ]);
    expect([code, stdout]).toEqual([0, "4 names looked at\n"]);
  });

  it.each([
    ["export interface LetterRow {}", "letter", "LetterRow", "dead letter"],
    ["export function readJournals() {}", "journal", "readJournals", "projection or log"],
    ["export const NONE_LEFT_OUT = 1;", "left out", "NONE_LEFT_OUT", "skipped or omitted"],
    ["export type DeadLetterTold = string;", "told", "DeadLetterTold", "reported"],
  ])("with a private word is reported with its file: %s", async (line, word, name, instead) => {
    const { code, stderr } = await checkLines(["export const PERMITS = 1;", line]);
    expect(code).toBe(1);
    expect(stderr).toBe(`packages/core/src/x.ts: "${word}" of ${name} is a private word; say ${instead}\n`);
  });

  it("is not to be found in a name that is not exported, and a file's name is looked at too", async () => {
    const { stderr } = await checkLines(["class Letter {}"], { "test/e2e/left-out.test.ts": "" });
    expect(stderr).toBe(
      'test/e2e/left-out.test.ts: "left out" of left-out.test.ts is a private word; say skipped or omitted\n',
    );
  });

  it("is to be found at all", async () => {
    expect((await check("glossary")).code).toBe(1);
  });
});

it("the glossary has at most 60 terms, each in one line", async () => {
  const text = await readFile(new URL("../../docs/glossary.md", import.meta.url), "utf8");
  const terms = text.split("\n").filter((line) => /^\| [^-|]/.test(line) && !line.startsWith("| Term |"));
  expect(terms.length).toBeGreaterThan(30);
  expect(terms.length).toBeLessThanOrEqual(60);
});
