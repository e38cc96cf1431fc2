/**
 * A browser and a fake control for a whole test file.
 *
 * Owns: both, of which a process has one each, whatever files it runs, and a page for each moment that clocks show;
 * they end with it.
 * BC1  After each test its pages have done nothing that they should not.
 * BC2  A test finds a page with empty storage, as wide and in such a theme as it asks for. The first of a test is the
 *      process's one page, emptied: a page of its own costs half a second and more. One of another zone is of its own,
 *      and one whose clock a test sets: each step of such a clock is taken again in every page that is loaded after it.
 */
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeAll, expect } from "vitest";
import { readConsoleFiles } from "../served/console-files.ts";
import { found, type OpenPage, openPage, type PageOptions, startBrowser } from "./browser.ts";
import { type FakeAnswers, type FakeControl, startFakeControl } from "./fake-control.ts";

export let control: FakeControl;
let browser: Browser;
/** A browser that starts, and files that are compressed, cost a second of processor time: more than many a test. */
let ofProcess: ReturnType<typeof start> | undefined;
let clock: Date | undefined;
/** By the clock that startConsole was told. */
const kept = new Map<number | undefined, OpenPage>();
const open: OpenPage[] = [];

/** To be called at the top of a test file. `at`: what its pages' clocks show, for good. */
export function startConsole(at?: Date): void {
  clock = at;
  beforeAll(async () => {
    if ("missing" in found) return;
    ofProcess ??= start();
    [browser, control] = await ofProcess;
  });
  afterEach(async () => {
    const pages = open.splice(0);
    const faults = pages.flatMap((each) => each.takeFaults());
    const strange = await Promise.all(pages.map((each) => each.strangeEntries()));
    await Promise.all(pages.map((each) => (each === kept.get(at?.getTime()) ? emptyKept(each) : each.close())));
    expect([...faults, ...strange.flat()]).toEqual([]);
  });
}

/** One that cannot be emptied is none for the next test. */
async function emptyKept(page: OpenPage): Promise<void> {
  try {
    await page.empty();
  } catch (error) {
    kept.delete(clock?.getTime());
    throw error;
  }
}

async function start(): Promise<readonly [Browser, FakeControl]> {
  const files = await readConsoleFiles();
  if (files === null) throw new Error("the pages were not built");
  const [started, answering] = await Promise.all([startBrowser(), startFakeControl(files)]);
  // Vitest ends so a process that has no more files, and kills it half a second later. At an exit the driver ends the
  // browser and removes its folders at once, where a close may take longer than that.
  process.once("SIGTERM", () => process.exit());
  return [started, answering];
}

/** What pages did that they should not; from then on it counts for nothing. */
export function takeFaults(): readonly string[] {
  return open.flatMap((each) => each.takeFaults());
}

export interface VisitOptions extends PageOptions {
  /** It is closed after the test. */
  readonly isOwn?: boolean;
  /** What is done before anything is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** A page at an address of the console, whose control answers so. */
export async function visit(path: string, answers: FakeAnswers = {}, options: VisitOptions = {}): Promise<Page> {
  control.answer(answers);
  const { zone, isOwn = zone !== undefined, prepare } = options;
  const isFirst = open.length === 0 && !isOwn;
  const known = isFirst ? kept.get(clock?.getTime()) : undefined;
  const opened = known ?? (await openPage(browser, control.url, { at: clock, zone }));
  if (isFirst) kept.set(clock?.getTime(), opened);
  open.push(opened);
  await opened.show(options);
  await prepare?.(opened.page);
  await opened.page.goto(control.url + path);
  return opened.page;
}
