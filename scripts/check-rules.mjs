// npm run verify: a rule, such as C4, has one owner, and its letters belong to one folder, so that the letters anywhere
// lead to the one place that explains them.
//  - A comment defines a rule by an item of its list: two letters at the most, a number, and two spaces before the
//    text. docs/design.md defines the rules that all of the project keeps to: the rule in bold.
//  - A comment or a test's name cites it. A rule of docs/design.md is cited as it is; a file that cites another file's
//    rule names that file: in a comment (`group-session.ts`), by an import, or by its own name
//    (`group-session.test.ts`).
//  - A rule of docs/design.md is cited by a test of `npm test`, and any other rule somewhere: an invariant that nothing
//    cites is a sentence of the list, without a number.
// node scripts/check-rules.mjs [FOLDER]   The last line says how many rules were found; the exit code is 1 for a rule
// without an owner, with two, cited without its file, or without a test.
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { root } from "./bootstrap.mjs";

const DESIGN = "docs/design.md";
const SOURCES = "{packages,services,test,scripts}/**/*.{ts,tsx,mjs,go}";

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*(?:\n\s*\/\/.*)*/gm;
/** An item of a list: ` * C4  It ...`, or in Go `//`, a tab and the same. */
const DEFINITION = /^\s*(?:\*|\/\/)\s+([A-Z]{1,2}\d{1,2}) {2}\S/gm;
const DESIGN_DEFINITION = /\*\*([A-Z]\d{1,2})\*\*/g;
const CITATION = /(?<![\w$./%"`-])[A-Z]{1,2}\d{1,2}(?![\w$"`(-])/g;
/** The beginning of a test's name, `C4, C7: ...`, or its end, `... (C7)`. */
const TEST_NAME = /\b(?:it|describe|test)\b[^"`;]{0,400}?["`]((?:[^"`\n]|`settle: [^`]+`)*)["`]/g;
const TEST_CITATION =
  /^([A-Z]{1,2}\d{1,2}(?:(?:, | to | and )[A-Z]{1,2}\d{1,2})*):|\(([A-Z]{1,2}\d{1,2}(?:(?:, | to | and )[A-Z]{1,2}\d{1,2})*)\)/g;
/** The rules at the beginning or the end of a title, wherever that stands. */
const TEST_TITLE =
  /["`]([A-Z]{1,2}\d{1,2}(?:, [A-Z]{1,2}\d{1,2})*): |\(([A-Z]{1,2}\d{1,2}(?:, [A-Z]{1,2}\d{1,2})*)\)["`]/g;
/** Not rules: an engine, a compression, a window system. */
const NO_RULES = new Set(["V8", "LZ4", "X11"]);

const lettersOf = (rule) => rule.replace(/\d+/, "");

const folder = process.argv[2] ?? root;
const files = [
  DESIGN,
  ...globSync(SOURCES, { cwd: folder, exclude: (name) => name === "node_modules" || name === "dist" }),
]
  .sort()
  .map((path) => {
    const text = readFileSync(join(folder, path), "utf8");
    const file = { path, text, comments: path === DESIGN ? [] : (text.match(COMMENT) ?? []) };
    return { ...file, defined: definedIn(file) };
  });

/** The rules that a file defines. */
function definedIn({ path, text, comments }) {
  if (path === DESIGN) return [...text.matchAll(DESIGN_DEFINITION)].map(([, rule]) => rule);
  return comments.flatMap((comment) => [...comment.matchAll(DEFINITION)].map(([, rule]) => rule));
}

/** The rules that a file's comments and, where it is a test, its tests' names speak of. */
function citedIn({ path, text, comments }) {
  const cited = new Set(comments.flatMap((comment) => comment.match(CITATION) ?? []));
  if (!path.endsWith(".test.ts")) return cited;
  for (const [, name] of text.matchAll(TEST_NAME)) {
    for (const [, first, last] of name.matchAll(TEST_CITATION)) {
      for (const rule of (first ?? last).match(CITATION) ?? []) cited.add(rule);
    }
  }
  return cited;
}

const stemOf = (path) => basename(path).replace(/\.\w+$/, "");

/** Whether a file names the owner of a rule that it cites. */
function names({ path, text }, owner) {
  const stem = stemOf(owner);
  return (
    stemOf(path).split(".")[0] === stem ||
    text.includes(basename(owner)) ||
    new RegExp(`["/]${stem}(?:\\.ts)?"`).test(text)
  );
}

const faults = [];
const owners = new Map();
const folders = new Map();
for (const file of files) {
  for (const rule of file.defined) {
    const other = owners.get(rule);
    if (other === undefined) owners.set(rule, file.path);
    else faults.push(`${file.path} defines ${rule}, and so does ${other}`);
    const place = dirname(file.path);
    const letters = lettersOf(rule);
    const otherPlace = folders.get(letters);
    if (otherPlace === undefined) folders.set(letters, place);
    else if (otherPlace !== place) faults.push(`${file.path} has rules ${letters}, and so has a file of ${otherPlace}`);
  }
}
for (const file of files) {
  for (const rule of citedIn(file)) {
    const owner = owners.get(rule);
    if (NO_RULES.has(rule) || file.defined.includes(rule) || owner === DESIGN) continue;
    if (owner === undefined) faults.push(`${file.path} cites ${rule}, which no file defines`);
    else if (!names(file, owner)) faults.push(`${file.path} cites ${rule} and does not name ${basename(owner)}`);
  }
}
/** Tests of the long ring run at night only. */
const tests = files.filter(({ path }) => path.endsWith(".test.ts") && !path.endsWith(".long.test.ts"));
const tested = new Set(
  tests.flatMap(({ text }) => [...text.matchAll(TEST_TITLE)].flatMap(([, first, last]) => (first ?? last).split(", "))),
);
for (const [rule, owner] of owners)
  if (owner === DESIGN && !tested.has(rule)) faults.push(`no test of npm test is named for ${rule} of ${DESIGN}`);
/** Its invariants lose their numbers when its files are moved. */
const MAY_STAND_UNCITED = /^services\/control\//;
const pages = globSync("**/*.md", { cwd: folder, exclude: (name) => name === "node_modules" || name === "dist" });
/** The text of every file and page, with ranges such as `C4 to C7` written out. */
const texts = [...files.map(({ text }) => text), ...pages.map((path) => readFileSync(join(folder, path), "utf8"))].map(
  (text) =>
    text.replace(/\b([A-Z]{1,2})(\d{1,2}) to \1(\d{1,2})\b/g, (_, letters, first, last) =>
      Array.from({ length: last - first + 1 }, (_, n) => `${letters}${Number(first) + n}`).join(", "),
    ),
);
const mentions = new Map();
for (const text of texts)
  for (const rule of text.match(/\b[A-Z]{1,2}\d{1,2}\b/g) ?? []) mentions.set(rule, (mentions.get(rule) ?? 0) + 1);
for (const [rule, owner] of owners)
  if (owner !== DESIGN && !MAY_STAND_UNCITED.test(owner) && mentions.get(rule) === 1)
    faults.push(`${owner} numbers ${rule}, which nothing cites`);
for (const fault of faults) console.error(fault);
console.log(`${owners.size} rules found in ${files.length} files`);
process.exit(faults.length === 0 && owners.size > 0 ? 0 : 1);
