/** Checks files by their SHA-512 sums, which stand as sha512sum prints them: the sum in hex, two spaces, the path. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";

/** Returns a sentence for each file in `folder` that is missing, has another sum, or has no sum in the list. */
export async function findWrongParts(folder: string, sums: string): Promise<readonly string[]> {
  const expected = parseSums(sums);
  const found = await filesIn(folder);
  const missing = [...expected.keys()].filter((path) => !found.includes(path)).map((path) => `${path}: not fetched`);
  const others = await Promise.all(found.map((path) => fault(join(folder, path), path, expected.get(path))));
  return [...missing, ...others.filter((text) => text !== undefined)].sort();
}

async function fault(file: string, path: string, expected: string | undefined): Promise<string | undefined> {
  if (expected === undefined) return `${path}: fetched, though no sum names it`;
  const sum = await sha512(file);
  return sum === expected ? undefined : `${path}: expected SHA-512 ${expected}, got ${sum}`;
}

function parseSums(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line): [string, string] => {
        const [, sum = "", path = ""] = /^([0-9a-f]{128}) {2}(\S+)$/.exec(line) ?? [];
        if (path === "") throw new Error(`no line of sha512sum: ${line}`);
        return [path, sum];
      }),
  );
}

/** Returns the paths of the files below `folder`, with slashes. Links and other special entries count as files. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

async function sha512(file: string): Promise<string> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
