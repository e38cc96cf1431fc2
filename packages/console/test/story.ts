/** A story's questions about a page beside its content; in the process and in a browser alike. */
import { CONTRAST_RULES, findAxeViolations } from "@posthaste/testkit/axe";
import { pressChord as pressChordInBrowser } from "@posthaste/testkit/chord";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { unreadableTexts, withLargeLetters } from "./browser/readable.ts";

/** The bar at the top and the rail of pages. */
const FRAME = ["nav[aria-label=Pages]", "nav[aria-label=Pages] + header"];
const WIDTHS = [360, 768, 1280];

/** The part of a page that is looked at: all of it, or the content of its frame. */
export type Part = "all" | "within the frame";

/** A page in the process has no layout and no colours: nobody asks it for these. */
export function hasLayout(page: Page): boolean {
  return !("axeFaults" in page);
}

/** The violations of WCAG 2.2 AA that axe finds, each with its place; of layout and colours in a browser alone. */
export function axeFaults(page: Page, part: Part = "all"): Promise<readonly string[]> {
  const exclude = part === "all" ? [] : FRAME;
  if ("axeFaults" in page && typeof page.axeFaults === "function") return page.axeFaults(exclude);
  return findAxeViolations(page, { exclude });
}

/** The faults that the other theme of a page can have though this one is sound. */
export function contrastFaults(page: Page, part: Part = "all"): Promise<readonly string[]> {
  return findAxeViolations(page, { rules: CONTRAST_RULES, exclude: part === "all" ? [] : FRAME });
}

/** By how many CSS pixels the page is wider than the window. */
export function sidewaysPx(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/**
 * Nothing that axe finds; in a browser in both themes, and at no width anything to scroll to sideways or a text that
 * cannot be read. The frame is the same in each of a page's states: it is looked at in one of them.
 */
export async function expectSound(page: Page, part: Part = "within the frame"): Promise<void> {
  if (!hasLayout(page)) {
    expect(await axeFaults(page, part)).toEqual([]);
    return;
  }
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFaults(page, part)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await contrastFaults(page, part)).toEqual([]);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    // A chart is as wide as its place a moment later.
    await expect.poll(async () => [width, await sidewaysPx(page), await unreadableTexts(page)]).toEqual([width, 0, []]);
  }
}

/** The rows of a list, without its headings. */
export function rowsOf(part: Page | Locator): Locator {
  return part.locator("[role=row][data-key]");
}

/** Resolves when it has the focus: that moves when all else stands there already. */
export function focusOf(target: Locator): Promise<void> {
  return target.and(target.page().locator(":focus")).waitFor();
}

/**
 * The paths of the API that the page asks for from now on, as it sends them: without requests already under way, and
 * without files, such as the tab's icon, which a browser asks for when it comes to it.
 */
export function askedFrom(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/v1/")) asked.push(pathname);
  });
  return asked;
}

/** The last copied text. A browser writes it a moment after it was told to, so that this is to be asked again. */
export function copiedOn(page: Page): Promise<string> {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** From now on as narrow as a phone's; in a browser there is nothing to scroll to sideways then. */
export async function expectNarrow(page: Page, height = 800): Promise<void> {
  await page.setViewportSize({ width: 360, height });
  if (hasLayout(page)) await expect.poll(() => sidewaysPx(page)).toBe(0);
}

/** In a browser whose own letters are twice as large as they are by default. */
export async function expectLargeLettersFit(page: Page): Promise<void> {
  if (!hasLayout(page)) return;
  await withLargeLetters(page, async () => {
    await expect.poll(async () => [await sidewaysPx(page), await unreadableTexts(page)]).toEqual([0, []]);
  });
}

/**
 * Presses one key after another, each a tenth of a second after the one before it by the page's own clock: a page that
 * waits for a second letter forgets the first after a while.
 */
export async function pressChord(page: Page, ...keys: readonly string[]): Promise<void> {
  if (hasLayout(page)) return pressChordInBrowser(page, ...keys);
  for (const key of keys) await page.keyboard.press(key);
}
