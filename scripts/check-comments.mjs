// npm run verify: comments are short lines of plain English.
//  - No line of a comment is longer than 120 columns, but for one that holds a long URL. Biome formats code and leaves
//    comments as they are.
//  - A headless clause stands in the place of a noun ("what was sent" for "the calls"). At most
//    3 % of a package's sentences have one.
// node scripts/check-comments.mjs [FOLDER] [--headless]   Prints the sentences of packages above the limit, or of all
// with `--headless`, and the share by package. The exit code is 1 for a long line or a share above the limit.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";

const COLUMNS = 120;
const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*)/;
/** A line that a tool reads, or that holds a text that cannot be broken. */
const UNBREAKABLE = /https?:\/\/\S{40}|biome-ignore|Stryker/;

/** The percentage of sentences with a headless clause that a package may have. */
const LIMIT = 3;

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*(?:\n\s*\/\/.*)*/gm;
const HEADLESS = new RegExp(
  [
    /\bwhat\b(?!-)/,
    /\bwhom?ever\b/,
    /\b(?:that|those) of\b/,
    /\bthat which\b/,
    // A relative clause has its noun before it: "the process who writes", "a user, whose events are stopped".
    /(?:^|[:;(]\s|\b(?:and|as|but|or|than|that|says?|tells?|knows?|asks?|shows?)\s)who(?:m|se)?\b/,
    /\b(?:by|for|from|of|on|to|with)\swho\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

/** The beginning of an item in a list, or of a numbered rule. */
const ITEM = /^\s*(?:- |[A-Z]{1,2}\d{1,2} {2})/;
const SENTENCE_END = /(?<=[.!?](?:\)|"|`)?)[\s¶]+(?=[A-Z`"(])|\n/;

/** The sentences of a file's comments, each with its line. Code in backticks and quoted texts are no part of them. */
function sentencesOf(text) {
  return [...text.matchAll(COMMENT)].flatMap((comment) => {
    const joined = comment[0]
      .split("\n")
      .map((line) => line.replace(/^\s*(?:\/\*+|\*+\/?|\/\/+)|\*\/\s*$/g, "").trimEnd())
      .map((line) => (ITEM.test(line) || line.trim() === "" ? `\n${line}` : line))
      .join("¶");
    const first = text.slice(0, comment.index).split("\n").length;
    let end = 0;
    return joined.split(SENTENCE_END).flatMap((part) => {
      const at = joined.indexOf(part, end) + (/^[\s¶]*/.exec(part)?.[0].length ?? 0);
      end = joined.indexOf(part, end) + part.length;
      const sentence = part
        .replace(ITEM, "")
        .replace(/[\s¶]+/g, " ")
        .trim();
      return /[a-z]+ [a-z]+/i.test(sentence)
        ? [{ line: first + joined.slice(0, at).split("¶").length - 1, sentence }]
        : [];
    });
  });
}

const [folder = root] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const showsAll = process.argv.includes("--headless");
const paths = globSync("{packages,services,test,scripts}/**/*.{ts,tsx,mjs,go}", {
  cwd: folder,
  exclude: (name) => name === "node_modules" || name === "dist",
});
let found = 0;
const packages = new Map();
for (const path of paths.sort()) {
  const text = readFileSync(join(folder, path), "utf8");
  for (const [index, line] of path.endsWith(".go") ? [] : text.split("\n").entries()) {
    if (line.length <= COLUMNS || !COMMENT_LINE.test(line) || UNBREAKABLE.test(line)) continue;
    found += 1;
    console.error(`${path}:${index + 1} has ${line.length} columns`);
  }
  const name = /^(?:packages|services)\/[^/]+|^[^/]+/.exec(path)?.[0] ?? "";
  const counted = packages.get(name) ?? { sentences: 0, headless: [] };
  for (const { line, sentence } of sentencesOf(text)) {
    counted.sentences += 1;
    if (HEADLESS.test(sentence.replace(/`[^`]*`|"[^"]*"/g, "`"))) counted.headless.push(`${path}:${line} ${sentence}`);
  }
  packages.set(name, counted);
}
let above = 0;
for (const [name, { sentences, headless }] of packages) {
  const share = sentences === 0 ? 0 : (100 * headless.length) / sentences;
  if (share > LIMIT) above += 1;
  if (share > LIMIT || showsAll) for (const each of headless) console.error(each);
  console.log(`${name}: ${headless.length} of ${sentences} sentences, ${share.toFixed(1)} % of at most ${LIMIT} %`);
}
console.log(`${paths.length} files looked at, ${found} comments are longer than ${COLUMNS} columns`);
process.exitCode = found === 0 && above === 0 && paths.length > 0 ? 0 : 1;
