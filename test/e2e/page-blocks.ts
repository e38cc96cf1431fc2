/** The blocks of a page by the section they stand in, for tests that run the snippets that a reader would copy. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root, snippetsOf } from "../checks/snippets.ts";

/**
 * The code of the blocks in a language below a heading of the second level, in their order.
 * @throws when the page has no such section, or the section no such block: the test would run nothing.
 */
export async function blocksUnder(page: string, heading: string, language: string): Promise<readonly string[]> {
  const text = await readFile(join(root, page), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  const blocks = snippetsOf(page, section ?? "").filter((snippet) => snippet.language === language);
  if (blocks.length === 0) throw new Error(`${page} has no block in ${language} below "${heading}"`);
  return blocks.map(({ code }) => code);
}
