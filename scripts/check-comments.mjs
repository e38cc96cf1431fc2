// npm run verify: no line of a comment is longer than 120 columns, but for one that holds a long URL. Biome formats
// code and leaves comments as they are.
// node scripts/check-comments.mjs [FOLDER]   The last line says how many files were looked at; the exit code is 1 for a
// long line.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";

const COLUMNS = 120;
const COMMENT = /^\s*(?:\/\/|\/\*|\*)/;
/** A line that a tool reads, or that holds what cannot be broken. */
const UNBREAKABLE = /https?:\/\/\S{40}|biome-ignore|Stryker/;

const folder = process.argv[2] ?? root;
const paths = globSync("{packages,services,test,scripts}/**/*.{ts,tsx,mjs}", {
  cwd: folder,
  exclude: (name) => name === "node_modules" || name === "dist",
});
let found = 0;
for (const path of paths) {
  const lines = readFileSync(join(folder, path), "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    if (line.length <= COLUMNS || !COMMENT.test(line) || UNBREAKABLE.test(line)) continue;
    found += 1;
    console.error(`${path}:${index + 1} has ${line.length} columns`);
  }
}
console.log(`${paths.length} files looked at, ${found} comments are longer than ${COLUMNS} columns`);
process.exit(found === 0 && paths.length > 0 ? 0 : 1);
