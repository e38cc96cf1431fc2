/** Links of the documents: each file is there, and each heading that a link names. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function documents(): Promise<readonly string[]> {
  const below = await readdir(join(root, "docs"), { recursive: true });
  const top = (await readdir(root)).filter((file) => file.endsWith(".md"));
  return [...top, ...below.filter((file) => file.endsWith(".md")).map((file) => join("docs", file))];
}

/** A heading's name in links, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** Without fenced blocks, whose lines may look like headings. */
const proseOf = async (file: string) => (await readFile(join(root, file), "utf8")).replace(/^ *```.*?^ *```/gms, "");

async function anchorsOf(file: string): Promise<ReadonlySet<string>> {
  const headings = (await proseOf(file)).match(/^#+ .*$/gm) ?? [];
  return new Set(headings.map((heading) => anchorOf(heading.replace(/^#+ /, ""))));
}

it("every link of a document leads to a file that is there, and to a heading of it", async () => {
  const broken: string[] = [];
  let links = 0;
  for (const file of await documents()) {
    for (const [link, path = "", anchor] of (await proseOf(file)).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      if (/^[a-z]+:/.test(path)) continue;
      links += 1;
      const target = path === "" ? file : relative(root, join(root, dirname(file), path));
      const isThere = existsSync(join(root, target));
      const hasHeading =
        anchor === undefined || !target.endsWith(".md") || (isThere && (await anchorsOf(target)).has(anchor));
      if (!isThere || !hasHeading) broken.push(`${file}: ${link}`);
    }
  }
  expect(links).toBeGreaterThan(100);
  expect(broken).toEqual([]);
});
