/**
 * A page of a real browser, as a person gets it: how soon it is of use, its moves, its loads and its memory.
 *
 * Owns: the loaded scripts, and the connection to the browser that tells them.
 * MP1  A page is of use when its main content stands there and the browser has drawn it, from the moment that its
 *      address was entered.
 * MP2  A move counts by the browser's own layout shift, from the page's beginning, unless a person's own doing moved
 *      it.
 */
import type { Locator, Page } from "playwright-core";

/** Where a page keeps its moves: their amounts, and the moved texts. */
const WATCH_SHIFTS = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node }) => (node === null ? "what is gone" : (node.textContent ?? "").slice(0, 40)));
      globalThis.shifts.push({ value, moved });
    }
  }).observe({ type: "layout-shift", buffered: true });
`;
/** Longer than anybody waits: a page that takes so long is told with its time. */
const PATIENCE_MS = 300_000;
const DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

export interface Shift {
  /** The browser's layout shift score. */
  readonly value: number;
  /** Beginnings of the texts that moved. */
  readonly moved: readonly string[];
}

export interface MeasuredPage {
  readonly page: Page;
  /** MP1, in ms. */
  readonly open: (path: string, shows: (page: Page) => Locator) => Promise<number>;
  /** MP2, since the page was opened. */
  readonly shifts: () => Promise<readonly Shift[]>;
  /** Of scripts, as they came over the wire since the page was made. */
  readonly scriptBytes: () => number;
  /** Of JavaScript, in use now; after a collection where it is asked for. */
  readonly heapBytes: (isCollected?: boolean) => Promise<number>;
}

/** `origin`: scheme, host and port of the console. */
export async function measurePage(page: Page, origin: string): Promise<MeasuredPage> {
  await page.addInitScript(WATCH_SHIFTS);
  const browser = await page.context().newCDPSession(page);
  const urls = new Map<string, string>();
  const scripts = new Map<string, number>();
  browser.on("Network.responseReceived", ({ requestId, type, response }) => {
    if (type === "Script") urls.set(requestId, response.url);
  });
  browser.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId);
    // One that the browser kept comes again with no length.
    if (url !== undefined) scripts.set(url, Math.max(scripts.get(url) ?? 0, encodedDataLength));
  });
  await Promise.all([browser.send("Network.enable"), browser.send("Performance.enable")]);
  return {
    page,
    open: async (path, shows) => {
      const beganMs = performance.now();
      await page.goto(`${origin}${path}`, { waitUntil: "commit" });
      await shows(page).waitFor({ timeout: PATIENCE_MS });
      await page.evaluate(DRAWN);
      return performance.now() - beganMs;
    },
    shifts: async () => (await page.evaluate("globalThis.shifts")) as readonly Shift[],
    scriptBytes: () => [...scripts.values()].reduce((all, bytes) => all + bytes, 0),
    heapBytes: async (isCollected = false) => {
      if (isCollected) await browser.send("HeapProfiler.collectGarbage");
      const { metrics } = await browser.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN;
    },
  };
}
