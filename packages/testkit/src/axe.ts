/** The findings of axe on a page in a browser against WCAG 2.2 AA. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { CDPSession, Page } from "playwright-core";

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** The findings that another theme of a page can have though this one is sound. */
export const CONTRAST_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface AxeOptions {
  /** By id or tag; all of WCAG 2.2 AA where it is absent. */
  readonly rules?: readonly string[];
  /** Selectors of the parts that are not looked at. */
  readonly exclude?: readonly string[];
}

/** Of pages that axe ran in. */
const sessions = new WeakMap<Page, CDPSession>();

/** Each violation with where it is; empty when all is well. */
export async function findAxeViolations(page: Page, options: AxeOptions = {}): Promise<readonly string[]> {
  const { rules = WCAG, exclude = [] } = options;
  if (!(await page.evaluate(() => "axe" in globalThis))) await bringAxe(page);
  return page.evaluate(
    async ({ runOnly, excluded }) => {
      const { axe } = globalThis as unknown as { readonly axe: typeof import("axe-core") };
      // Of sound parts no places are wanted, which take axe as long as its rules do.
      const run = { runOnly, resultTypes: ["violations" as const], elementRef: true };
      const { violations } = await axe.run({ exclude: excluded }, run);
      const place = ({ element, target }: import("axe-core").NodeResult) => element?.outerHTML ?? target.join(" ");
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(place).join(" ")}`);
    },
    { runOnly: [...rules], excluded: [...exclude] },
  );
}

/**
 * By the debugger's own evaluation, which the content policy does not rule, and as a script, which the page's process
 * keeps compiled for its next document; a function of `page.evaluate` is compiled each time.
 */
async function bringAxe(page: Page): Promise<void> {
  const session = sessions.get(page) ?? (await page.context().newCDPSession(page));
  sessions.set(page, session);
  // The markup of each element that is looked at would be read otherwise, and not of faulty ones alone.
  const expression = `${source}; axe.configure({ noHtml: true });`;
  const { exceptionDetails } = await session.send("Runtime.evaluate", { expression });
  if (exceptionDetails !== undefined) throw new Error(`axe did not start: ${exceptionDetails.text}`);
}
