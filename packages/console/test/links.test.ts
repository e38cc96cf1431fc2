/** Links are texts in the code: each leads to a page of src/routes.tsx, or to what the API serves. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));
const text = (path: string) => readFileSync(`${src}${path}`, "utf8");

it("every link leads to a page", () => {
  const pages = [...text("routes.tsx").matchAll(/^ {2}page\(\s*"(.+?)",/gm)].map(([, page = ""]) => page);
  const isPage = (path: string) =>
    path === "/" || pages.some((page) => new RegExp(`^${page.replaceAll(/\$\w+/g, "[^/]+")}$`).test(path));
  const links = globSync("**/*.tsx", { cwd: src }).flatMap((file) =>
    [...text(file).matchAll(/\bhref=(?:"(\/[^"]*)"|\{`(\/[^`]*)`\})/g)].map(([, plain, made = ""]) => ({
      file,
      // A part that is made is a segment of the path, or the query behind it.
      path: (plain ?? made)
        .replaceAll(/\$\{searchOf\(.*?\)\}/g, "")
        .replaceAll(/\$\{.*?\}/g, "x")
        .replace(/\?.*/, ""),
    })),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ path }) => !path.startsWith("/v1/") && !isPage(path))).toEqual([]);
});
