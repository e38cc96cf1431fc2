/**
 * Pages for a whole test file, and the fake control that they ask.
 *
 * Owns: the pages that are open.
 * - After each test its pages have done nothing that they should not.
 * - A test finds a page with empty storage, as wide and in such a theme as it asks for.
 * BC3  A page stores choices of how pages look and the draft of a connection: nothing that signs in.
 */
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { createFakeControl, type FakeAnswers, type FakeControl } from "./fake-control.ts";

/** The keys of the console's storage. The draft has a test of its own, that it holds no secret. */
const STORED = ["posthaste-theme", "posthaste-letters", "posthaste-zone", "posthaste-connect"];

export interface PageOptions {
  readonly width?: number;
  readonly theme?: "light" | "dark";
  /** Of the machine that it is on. */
  readonly zone?: string;
}

export interface VisitOptions extends PageOptions {
  /** It is closed after the test. */
  readonly isOwn?: boolean;
  /** Steps before anything is loaded. */
  readonly prepare?: (page: Page) => unknown;
}

export interface OpenPage {
  readonly page: Page;
  /** Forgets the faults so far, and returns them in words: a test may make them on purpose. */
  readonly takeFaults: () => readonly string[];
  /** Ends it, or keeps it empty for the next test. */
  readonly leave: () => Promise<void>;
}

/** Where pages are shown. */
export interface Ring {
  /** Why there is no such place here; null where there is. */
  readonly missing: string | null;
  /** The moment of a page whose clock no test sets. */
  readonly present: () => Date;
  /** Returns the address at which the control is found. */
  readonly start: (control: FakeControl) => Promise<string>;
  /** `at`: the time of its clock, for good. */
  readonly open: (control: Origin, at: Date | undefined, options: VisitOptions) => Promise<OpenPage>;
}

export interface Origin extends FakeControl {
  readonly url: string;
}

/** To be called once in a process for each place. */
export function createRing(ring: Ring) {
  const fake = createFakeControl();
  let started: Promise<string> | undefined;
  let url = "";
  let clock: Date | undefined;
  const open: OpenPage[] = [];
  const control: Origin = Object.defineProperty({ ...fake, url: "" }, "url", { get: () => url });
  const takeFaults = (): readonly string[] => open.flatMap((each) => each.takeFaults());
  return {
    control,
    takeFaults,
    present: ring.present,
    /** To be called at the top of a test file. `at`: the time of its pages' clocks, for good. */
    startConsole(at?: Date): void {
      beforeAll(async () => {
        clock = at;
        if (ring.missing !== null) return;
        started ??= ring.start(fake);
        url = await started;
      });
      beforeEach((context) => {
        if (ring.missing !== null) context.skip(ring.missing);
      });
      afterEach(async () => {
        const faults = takeFaults();
        const pages = open.splice(0);
        const strange = await Promise.all(pages.map(({ page }) => strangeEntries(page)));
        await Promise.all(pages.map((each) => each.leave()));
        expect([...faults, ...strange.flat()]).toEqual([]);
      });
    },
    /** A page at an address of the console, whose control answers so. */
    async visit(path: string, answers: FakeAnswers = {}, options: VisitOptions = {}): Promise<Page> {
      control.answer(answers);
      const opened = await ring.open(control, clock, {
        ...options,
        isOwn: options.isOwn ?? options.zone !== undefined,
      });
      open.push(opened);
      await options.prepare?.(opened.page);
      await opened.page.goto(url + path);
      return opened.page;
    },
  };
}

/** BC3. */
async function strangeEntries(page: Page): Promise<readonly string[]> {
  if (page.isClosed()) return [];
  const names = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)]);
  return names.filter((name) => !STORED.includes(name));
}
