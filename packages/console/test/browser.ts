/**
 * One browser for a test file, and pages in it that tell of everything that they should not do.
 *
 * PG1  Nothing is asked of another origin, nothing is written to the console, where the browser also tells of what
 *      breaks the content policy, and no error is thrown: each is kept, and `faults` tells of all.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { CHROMIUM, provideProgram } from "@posthaste/testkit/debian-program";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
/** The browser tells of each such answer by itself. */
const TOLD_OF_ANSWERS = /^Failed to load resource: the server responded with a status of [45]\d\d/;

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const found = await provideProgram(CHROMIUM, process.env);
if ("missing" in found) process.stdout.write(`the console's tests in a browser are skipped: ${found.missing}\n`);

export interface OpenPage {
  readonly page: Page;
  /** What happened that should not, in words; empty when all is well. */
  readonly faults: () => readonly string[];
  /** Forgets what happened so far, and answers it: a test did it on purpose. */
  readonly takeFaults: () => readonly string[];
  readonly close: () => Promise<void>;
}

export async function startBrowser(): Promise<Browser> {
  if ("missing" in found) throw new Error(found.missing);
  return chromium.launch({ executablePath: found.path, args: FLAGS });
}

export interface PageOptions {
  readonly width?: number;
  readonly theme?: "light" | "dark";
}

/** A page with empty storage. `origin`: all that it may ask. */
export async function openPage(
  browser: Browser,
  origin: string,
  { width = 1280, theme = "light" }: PageOptions = {},
): Promise<OpenPage> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: theme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`an error was thrown: ${error.message}`));
  page.on("console", (message) => {
    if (!TOLD_OF_ANSWERS.test(message.text())) faults.push(`the console was told: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(`another origin was asked: ${request.url()}`);
  });
  return { page, faults: () => faults, takeFaults: () => faults.splice(0), close: () => context.close() };
}

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** What axe finds against WCAG 2.2 AA, each with where; empty when all is well. */
export function axeFaults(page: Page): Promise<readonly string[]> {
  return runAxe(page, WCAG);
}

/** Of that, what the other theme of a page can change that is sound in one. */
export function contrastFaults(page: Page): Promise<readonly string[]> {
  return runAxe(page, ["color-contrast", "link-in-text-block"]);
}

async function runAxe(page: Page, rules: string[]): Promise<readonly string[]> {
  // By the debugger's own evaluation, which the content policy does not rule.
  await page.evaluate(axeSource);
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { readonly axe: typeof import("axe-core") };
    const { violations } = await axe.run(document, { runOnly });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
  }, rules);
}

/** By how many CSS pixels the page is wider than the window. */
export function sidewaysPx(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
