// Whether the build is of the present sources. Without dependencies, and for Node 20 too: `npm start` asks this first.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("..", import.meta.url));
const MADE_OF = ["src", "build", "index.html", "package.json", "../core/src/config/static-headers.ts"];
const MARK = join(folder, "dist", ".sources");

/**
 * A hash over everything that a build reads, the lock file's packages among it by their versions in package.json.
 *
 * @returns {string}
 */
export function sourcesHash() {
  const hash = createHash("sha256");
  for (const path of MADE_OF.flatMap(filesOf).sort()) hash.update(path).update(readFileSync(join(folder, path)));
  return hash.digest("hex");
}

/** @returns {boolean} */
export function isBuilt() {
  try {
    return readFileSync(MARK, "utf8") === sourcesHash();
  } catch {
    return false;
  }
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesOf(path) {
  if (path.includes(".")) return [path];
  return readdirSync(join(folder, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length));
}
