// npm run verify: no exported name and no file's name has a private word that another word has replaced, so that each
// thing keeps the name that docs/glossary.md or the field gives it.
// node scripts/check-glossary.mjs [FOLDER]   The last line says how many names were looked at; the exit code is 1 for a
// private word.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "./bootstrap.mjs";

/** Each private word with the word that has replaced it. */
const INSTEAD = {
  letter: "dead letter",
  journal: "projection or log",
  "left out": "skipped or omitted",
  incarnation: "topic generation",
  alike: "group",
  heard: "last seen",
  told: "reported",
  needing: "needs attention",
  want: "desired state",
  beat: "heartbeat",
  aside: "quarantined",
  anew: "recreated",
  surroundings: "load context",
  "put off": "deferred",
};
/** Names of letters of an alphabet, of wire formats, and of connections beside the one in use. */
const TAKEN = new Set(["areLettersOn", "switchLetters", "expectLargeLettersFit", "withLargeLetters", "MAX_ASIDE"]);

const EXPORTED = /^export (?:async |abstract )*(?:function\*?|class|interface|type|const|let) (\w+)/gm;

/** The words of a name, in lower case between spaces: of `isTopicMissing`, `MAX_ASIDE` or `left-out.test.ts`. */
function wordsOf(name) {
  const spaced = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return ` ${spaced.toLowerCase().replace(/[^a-z\d]+/g, " ")} `;
}

/** The first private word of a name; a dead letter is not one. */
function privateWordOf(name) {
  const words = wordsOf(name).replace(/ dead letters? /g, " ");
  return Object.keys(INSTEAD).find((word) => new RegExp(` ${word}s? `).test(words));
}

const folder = process.argv[2] ?? root;
let names = 0;
let found = 0;
for (const path of globSync("{packages,services,test}/**/*.{ts,tsx}", {
  cwd: folder,
  exclude: (name) => name === "node_modules" || name === "dist",
}).sort()) {
  const exported = [...readFileSync(join(folder, path), "utf8").matchAll(EXPORTED)].map(([, name]) => name);
  for (const name of [basename(path), ...exported]) {
    names += 1;
    const word = TAKEN.has(name) ? undefined : privateWordOf(name);
    if (word === undefined) continue;
    found += 1;
    console.error(`${path}: "${word}" of ${name} is a private word; say ${INSTEAD[word]}`);
  }
}
console.log(`${names} names looked at`);
process.exit(found === 0 && names > 0 ? 0 : 1);
