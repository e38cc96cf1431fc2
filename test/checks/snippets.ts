/** The fenced blocks of the pages that people copy from. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Snippet {
  /** The page's path from the project's root. */
  readonly page: string;
  /** The line of the page that the block begins at. */
  readonly line: number;
  /** The word behind the fence; empty where there is none. */
  readonly language: string;
  readonly code: string;
}

const PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "packages/*/README.md", "deploy/**/*.md"];

/** Every block of every page, in their order. */
export function readSnippets(): readonly Snippet[] {
  return globSync(PAGES, { cwd: root, exclude: ["**/node_modules/**"] })
    .sort()
    .flatMap((page) => snippetsOf(page, readFileSync(join(root, page), "utf8")));
}

/** The blocks of a page's text. */
export function snippetsOf(page: string, text: string): readonly Snippet[] {
  return [...text.matchAll(/^```([^\n`]*)\n(.*?)^```$/gms)].map(({ 1: language = "", 2: code = "", index }) => ({
    page,
    line: text.slice(0, index).split("\n").length,
    language,
    code,
  }));
}
