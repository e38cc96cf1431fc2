/** A browser and a fake control for a whole test file; after each test the page has done nothing that it should not. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { readConsoleFiles } from "../served/console-files.ts";
import { found, type OpenPage, openPage, type PageOptions, startBrowser } from "./browser.ts";
import { type FakeAnswers, type FakeControl, startFakeControl } from "./fake-control.ts";

export let control: FakeControl;
let browser: Browser;
const open: OpenPage[] = [];

/** To be called at the top of a test file. */
export function startConsole(): void {
  beforeAll(async () => {
    if ("missing" in found) return;
    const files = await readConsoleFiles();
    if (files === null) throw new Error("the pages were not built");
    [browser, control] = await Promise.all([startBrowser(), startFakeControl(files)]);
  });
  afterEach(async () => {
    const pages = open.splice(0);
    await Promise.all(pages.map((each) => each.close()));
    expect(pages.flatMap((each) => each.faults())).toEqual([]);
  });
  afterAll(async () => {
    if ("missing" in found) return;
    await browser.close();
    control.close();
  });
}

/** What pages did that they should not; from then on it counts for nothing. */
export function takeFaults(): readonly string[] {
  return open.flatMap((each) => each.takeFaults());
}

/** A page at an address of the console, whose control answers so. */
export async function visit(path: string, answers: FakeAnswers = {}, options: PageOptions = {}): Promise<Page> {
  control.answer(answers);
  const opened = await openPage(browser, control.url, options);
  open.push(opened);
  await opened.page.goto(control.url + path);
  return opened.page;
}
