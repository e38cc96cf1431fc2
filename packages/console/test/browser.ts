/**
 * One browser for a test file, and pages in it that tell of everything that they should not do.
 *
 * PG1  Nothing is asked of another origin, nothing is written to the console, where the browser also tells of what
 *      breaks the content policy, and no error is thrown: each is kept, and `faults` tells of all.
 * PG2  What the browser stores are choices of how pages look and the draft of a connection: nothing that signs in.
 */
import { CONTRAST_RULES, findAxeViolations } from "@posthaste/testkit/axe";
import { CHROMIUM, provideProgram } from "@posthaste/testkit/debian-program";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { NOWHERE } from "./fake-control.ts";

/** What the console stores under. The draft has a test of its own, that it holds no secret. */
const STORED = ["posthaste-theme", "posthaste-letters", "posthaste-zone", "posthaste-connect"];
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  // The headless shell would hint letters in full, where Chromium hints them slightly: their pictures would differ.
  "--font-render-hinting=slight",
  // A page lives for a second or two: what it makes is cleared less often, and most of it with the page.
  "--js-flags=--min-semi-space-size=16",
];
/** For whatever comes to a page. */
const PATIENCE_MS = 60_000;
/** The browser tells of each such answer by itself. */
const TOLD_OF_ANSWERS = /^Failed to load resource: the server responded with a status of [45]\d\d/;

export const found = await provideProgram(CHROMIUM, process.env);
if ("missing" in found) process.stdout.write(`the console's tests in a browser are skipped: ${found.missing}\n`);

export interface OpenPage {
  readonly page: Page;
  /** What happened that should not, in words; empty when all is well. */
  readonly faults: () => readonly string[];
  /** Forgets what happened so far, and answers it: a test did it on purpose. */
  readonly takeFaults: () => readonly string[];
  /** The names under which something else is stored than may be. */
  readonly strangeEntries: () => Promise<readonly string[]>;
  /** As wide and in such a theme from now on. */
  readonly show: (options: PageOptions) => Promise<void>;
  /** Leaves where it is, without anything kept; its faults are forgotten. */
  readonly empty: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startBrowser(): Promise<Browser> {
  if ("missing" in found) throw new Error(found.missing);
  return chromium.launch({ executablePath: found.path, args: FLAGS });
}

export interface PageOptions {
  readonly width?: number;
  readonly theme?: "light" | "dark";
  /** Of the machine that it is on. */
  readonly zone?: string;
}

export interface PageMachine {
  /** What its clock shows, for good. */
  readonly at?: Date | undefined;
  readonly zone?: string | undefined;
}

/** A page with empty storage. `origin`: all that it may ask. */
export async function openPage(browser: Browser, origin: string, { at, zone }: PageMachine = {}): Promise<OpenPage> {
  const context: BrowserContext = await browser.newContext({
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: zone ?? "Europe/Berlin",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (at !== undefined) await page.clock.setFixedTime(at);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`an error was thrown: ${error.message}`));
  page.on("console", (message) => {
    if (!TOLD_OF_ANSWERS.test(message.text())) faults.push(`the console was told: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(`another origin was asked: ${request.url()}`);
  });
  return {
    page,
    faults: () => faults,
    takeFaults: () => faults.splice(0),
    async strangeEntries() {
      if (page.isClosed()) return [];
      const names = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
      return names.filter((name) => !STORED.includes(name));
    },
    async show({ width = 1280, theme = "light" }) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: theme, forcedColors: "none" });
    },
    async empty() {
      // Ends the polls and what a test left without an answer. A page of another origin, or under other headers, would
      // have a process of its own, and so would the next one of the console: with every script to be parsed anew.
      await page.goto(origin + NOWHERE);
      await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
      });
      await context.clearCookies();
      faults.length = 0;
    },
    close: () => context.close(),
  };
}

/** The bar at the top and the rail of pages. */
const FRAME = ["nav[aria-label=Pages]", "nav[aria-label=Pages] + header"];

/** Which part of a page is looked at: all of it, or what stands in its frame. */
export type Part = "all" | "within the frame";

/** What axe finds against WCAG 2.2 AA, each with where; empty when all is well. */
export function axeFaults(page: Page, part: Part = "all"): Promise<readonly string[]> {
  return findAxeViolations(page, { exclude: outside(part) });
}

/** Of that, what the other theme of a page can change that is sound in one. */
export function contrastFaults(page: Page, part: Part = "all"): Promise<readonly string[]> {
  return findAxeViolations(page, { rules: CONTRAST_RULES, exclude: outside(part) });
}

function outside(part: Part): readonly string[] {
  return part === "all" ? [] : FRAME;
}

/** Answers when it has the focus: that moves when all else stands there already. */
export function focusOf(target: Locator): Promise<void> {
  return target.and(target.page().locator(":focus")).waitFor();
}

/**
 * The paths of the API that the page asks for from now on, as it sends them: what is under way already is none of them,
 * nor are files, such as the tab's icon, which a browser asks for when it comes to it.
 */
export function askedFrom(page: Page): readonly string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/v1/")) asked.push(pathname);
  });
  return asked;
}

/** What was copied last. A browser writes it a moment after it was told to, so that this is to be asked again. */
export function copiedOn(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** By how many CSS pixels the page is wider than the window. */
export function sidewaysPx(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
