/**
 * One browser for a test file, and pages in it that tell of everything that they should not do.
 *
 * - Nothing is asked of another origin, nothing is written to the console, where the browser also reports breaches of
 *   the content policy, and no error is thrown: each is kept, and `takeFaults` reports all.
 */
import { CHROMIUM, provideProgram } from "@posthaste/testkit/debian-program";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { PageOptions } from "../ring.ts";
import { NOWHERE } from "./serve-fake-control.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  // The headless shell would hint letters in full, where Chromium hints them slightly: their pictures would differ.
  "--font-render-hinting=slight",
  // A page lives for a second or two: its garbage is cleared less often, and most of it with the page.
  "--js-flags=--min-semi-space-size=16",
];
/** For whatever comes to a page. */
const PATIENCE_MS = 60_000;
/** The browser tells of each such answer by itself. */
const REPORTED_ANSWERS = /^Failed to load resource: the server responded with a status of [45]\d\d/;

export const found = await provideProgram(CHROMIUM, process.env);
if ("missing" in found) process.stdout.write(`the console's tests in a browser are skipped: ${found.missing}\n`);

export interface PageInBrowser {
  readonly page: Page;
  /** Forgets the faults so far, and returns them: a test made them on purpose. */
  readonly takeFaults: () => readonly string[];
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

export interface PageMachine {
  /** The time of its clock, for good. */
  readonly at?: Date | undefined;
  readonly zone?: string | undefined;
}

/** A page with empty storage. `origin`: all that it may ask. */
export async function openPage(
  browser: Browser,
  origin: string,
  { at, zone }: PageMachine = {},
): Promise<PageInBrowser> {
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
    if (!REPORTED_ANSWERS.test(message.text())) faults.push(`the console was told: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) faults.push(`another origin was asked: ${request.url()}`);
  });
  return {
    page,
    takeFaults: () => faults.splice(0),
    async show({ width = 1280, theme = "light" }) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: theme, forcedColors: "none" });
    },
    async empty() {
      // Ends the polls and the requests that a test left without an answer. A page of another origin, or under other
      // headers, would have a process of its own, and so would the next one of the console: with every script to be
      // parsed anew.
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
