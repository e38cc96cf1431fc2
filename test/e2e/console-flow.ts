/**
 * A person at the console, by mouse or by keyboard alone: each action is counted in steps.
 *
 * - A step is one click, one key chord that does something, or one paste. Moving the focus is none.
 * PF2  A page makes no fault: its errors and the browser's reports of it are kept.
 */
import { findAxeViolations } from "@posthaste/testkit/axe";
import { pressChord } from "@posthaste/testkit/chord";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { isLong } from "../faults/form.ts";
import type { Browser } from "./browser.ts";
import type { Installation } from "./installation.ts";

/** The browser says so of each answer that is a refusal, and where control is gone for a while. */
const REPORTED_ANSWERS = /^Failed to load resource: /;
/** Tab stops on one page, at the most. */
const MOST_TABS = 60;

export interface ConsoleFlow {
  readonly page: Page;
  readonly steps: () => number;
  /** Since it was asked for. */
  readonly elapsedMs: () => number;
  readonly click: (target: Locator) => Promise<void>;
  /** A key, or a chord such as `g x`. */
  readonly press: (keys: string) => Promise<void>;
  /** Pastes once the page has put the focus into a field. */
  readonly paste: (text: string) => Promise<void>;
  /** Presses Enter when the page has put the focus there. */
  readonly enterThere: (target: Locator) => Promise<void>;
  /** Goes to it by Tab alone, and presses Enter there. */
  readonly enter: (target: Locator) => Promise<void>;
  /** Goes through rows by `j` until this one has the focus. */
  readonly goToRow: (row: Locator) => Promise<void>;
  /** PF2. */
  readonly faults: () => readonly string[];
}

export interface ConsoleOptions {
  readonly width?: number;
  /** Opens the session; one of the administrator's where it is absent. */
  readonly link?: string;
}

/** Signed in by a link, on the console's first page. */
export async function openConsole(
  browser: Browser,
  { control }: Installation,
  { width = 1280, link }: ConsoleOptions = {},
): Promise<ConsoleFlow> {
  const openedAtMs = performance.now();
  const page = await browser.openPage();
  await page.setViewportSize({ width, height: 800 });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (!REPORTED_ANSWERS.test(message.text())) faults.push(message.text());
  });
  await page.goto(link ?? (await control.createSignInLink()));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  let steps = 0;
  const hasFocus = async (target: Locator) => (await target.and(page.locator(":focus")).count()) > 0;
  const press = async (keys: string): Promise<void> => {
    steps += 1;
    const deadLetters = keys.split(" ");
    await (deadLetters.length === 1 ? page.keyboard.press(keys) : pressChord(page, ...deadLetters));
  };
  // A key is acknowledged before the page has moved the focus: the next one would go past its aim.
  const moveFocus = async (key: string): Promise<void> => {
    const before = await page.evaluateHandle("document.activeElement");
    await page.keyboard.press(key);
    await page.waitForFunction("(before) => document.activeElement !== before", before);
  };
  return {
    page,
    steps: () => steps,
    elapsedMs: () => performance.now() - openedAtMs,
    click: async (target) => {
      steps += 1;
      await target.click();
    },
    press,
    paste: async (text) => {
      steps += 1;
      await page.locator("input:focus").waitFor();
      await page.keyboard.insertText(text);
    },
    enterThere: async (target) => {
      await target.and(page.locator(":focus")).waitFor();
      await press("Enter");
    },
    enter: async (target) => {
      await target.waitFor();
      for (let tabs = 0; !(await hasFocus(target)); tabs += 1) {
        if (tabs === MOST_TABS) throw new Error(`Tab does not come to ${target}`);
        await moveFocus("Tab");
      }
      await press("Enter");
    },
    goToRow: async (row) => {
      await row.waitFor();
      for (let rows = 0; !(await hasFocus(row)); rows += 1) {
        if (rows === MOST_TABS) throw new Error(`j does not come to ${row}`);
        await moveFocus("j");
      }
    },
    faults: () => faults,
  };
}

/** Nothing sideways, and in the long form nothing that axe finds: the console's own tests show axe every page. */
export async function expectSound(page: Page): Promise<void> {
  await expectNothingSideways(page);
  if (isLong) expect(await findAxeViolations(page)).toEqual([]);
}

/** Nothing of the page is to be scrolled to sideways. */
export async function expectNothingSideways(page: Page): Promise<void> {
  const html = "document.documentElement";
  // A chart is as wide as its place a moment later.
  await expect.poll(() => page.evaluate(`${html}.scrollWidth - ${html}.clientWidth`)).toBe(0);
}
