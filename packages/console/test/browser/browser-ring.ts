/**
 * Pages in Chromium.
 *
 * Owns: the browser, of which a process has one, whatever files it runs, and a page for each moment that clocks show;
 * they end with it. The first page of a test is the process's one, emptied: a page of its own costs half a second and
 * more. One of another zone is of its own, and one whose clock a test sets: each step of such a clock is taken again in
 * every page that is loaded after it.
 */
import type { Browser } from "playwright-core";
import { expect } from "vitest";
import { readConsoleFiles } from "../../served/console-files.ts";
import type { FakeControl } from "../fake-control.ts";
import { createRing, type OpenPage, type Ring } from "../ring.ts";
import { found, openPage, type PageInBrowser, startBrowser } from "./browser.ts";
import { serveFakeControl } from "./serve-fake-control.ts";

/** By the moment of its clock. */
const kept = new Map<number | undefined, { readonly page: PageInBrowser; isTaken: boolean }>();
let browser: Browser;

const ring: Ring = {
  missing: "missing" in found ? found.missing : null,
  present: () => new Date(),
  start: async (control: FakeControl) => {
    const files = await readConsoleFiles();
    if (files === null) throw new Error("the pages were not built");
    const [started, url] = await Promise.all([startBrowser(), serveFakeControl(control, files)]);
    browser = started;
    // Vitest ends so a process that has no more files, and kills it half a second later. At an exit the driver ends the
    // browser and removes its folders at once, where a close may take longer than that.
    process.once("SIGTERM", () => process.exit());
    return url;
  },
  open: async (control, at, options): Promise<OpenPage> => {
    const known = kept.get(at?.getTime());
    const page =
      known !== undefined && !known.isTaken && !options.isOwn
        ? known.page
        : await openPage(browser, control.url, { at, zone: options.zone });
    const isKept = !options.isOwn && (known === undefined || !known.isTaken);
    if (isKept) kept.set(at?.getTime(), { page, isTaken: true });
    await page.show(options);
    return {
      page: page.page,
      takeFaults: page.takeFaults,
      leave: async () => {
        if (!isKept) {
          await page.close();
          return;
        }
        // One that cannot be emptied is none for the next test.
        kept.delete(at?.getTime());
        await page.empty();
        kept.set(at?.getTime(), { page, isTaken: false });
      },
    };
  },
};

export const inBrowser = createRing(ring);

export const poll: typeof expect.poll = (...asked) => expect.poll(...asked);
