/** What axe finds on a page in a browser against WCAG 2.2 AA. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** Of that, what another theme of a page can change that is sound in one. */
export const CONTRAST_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface AxeOptions {
  /** By id or tag; all of WCAG 2.2 AA where it is absent. */
  readonly rules?: readonly string[];
  /** Selectors of what is not looked at. */
  readonly exclude?: readonly string[];
}

/** Each violation with where it is; empty when all is well. */
export async function findAxeViolations(page: Page, options: AxeOptions = {}): Promise<readonly string[]> {
  const { rules = WCAG, exclude = [] } = options;
  // By the debugger's own evaluation, which the content policy does not rule.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  return page.evaluate(
    async ({ runOnly, excluded }) => {
      const { axe } = globalThis as unknown as { readonly axe: typeof import("axe-core") };
      // Of what is sound no places are wanted, which take axe as long as its rules do.
      const { violations } = await axe.run({ exclude: excluded }, { runOnly, resultTypes: ["violations"] });
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
    },
    { runOnly: [...rules], excluded: [...exclude] },
  );
}
